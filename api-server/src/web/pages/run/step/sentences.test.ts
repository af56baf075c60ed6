import { expect, test } from 'vitest';
import type { RawResponse, StepDetail, StepPart } from '../../../../service/views/step.ts';
import { approvalLine } from '../../fixtures/approvals.ts';
import { runDetail, stepDetail, trustReport } from '../../fixtures/runs.ts';
import { panelView, type Tab } from '../step-panel.ts';
import { evidenceView } from './evidence.ts';
import { NO_LINES } from './log.ts';
import { opinionsOf } from './opinions.ts';
import { SAID } from './said.ts';
import type { ShownStep } from './shown-step.ts';
import { UNWEIGHED } from './why-no-evidence.ts';

type Fields = Partial<ShownStep>;

const TIMES = {
  started_at: '2026-11-21T11:55:00.000Z',
  ended_at: '2026-11-21T11:55:01.000Z',
  iteration: 1,
  attempt: 1,
};
const part = (name: StepPart['part'], more: Partial<StepPart> = {}): StepPart => ({ part: name, ...TIMES, ...more });
const SENT = part('attempt');
const LOST = part('attempt', { error: 'unavailable: connection lost', unreported: true });
const RESTARTED = part('before_restart');
const MODEL = { type: 'llm_call', started_at: TIMES.started_at, duration_ms: 5 };
const LOADED = { step_id: 'x', status: 'completed' } as const;

/** What an old row has: nothing about its attempts. */
const bare = (raw: RawResponse | null, fields: Fields = {}): StepDetail =>
  stepDetail({
    raw_response: raw,
    cost: null,
    input_tokens: null,
    output_tokens: null,
    usage: { agent: null, verifier: null, grounding: null },
    output: null,
    trust_report: null,
    primary_confidence: null,
    ...fields,
  });

const panel = (step: ShownStep, tab: Tab, log: Parameters<typeof panelView>[0]['log'] = []) =>
  panelView({
    run: runDetail({ steps: [step] }),
    step,
    group: null,
    tab,
    log,
    approvals: [],
    operator: false,
    now: Date.parse(TIMES.ended_at),
    currency: 'USD',
    hrefOf: (id) => id,
    stepHref: (name) => name,
  }) as unknown as Record<Tab, { none: string; why: string; calls: unknown[]; notes: string[] }>;

const FAILED = { status: 'failed', error: { type: 'timeout', message: 'no answer within 3 s' } } as const;

const TOOLS: [string, StepDetail][] = [
  [SAID.tools.skipped, bare(null, { status: 'skipped' })],
  [SAID.tools.running, bare({ prompt: 'x' }, { status: 'running' })],
  [SAID.tools.notAsked, bare({ parts: [] }, FAILED)],
  [SAID.tools.noTool, bare({ trace: [], tool_calls: 0, iterations: 1, parts: [SENT] })],
  [SAID.tools.noTool, bare({ trace: [MODEL], parts: [SENT] }, { executor: 'external' })],
  [SAID.tools.noTool, bare({ trace: [MODEL], tool_calls: 0, loaded: LOADED }, { status: 'skipped' })],
  [SAID.tools.noTrace, bare({ trace: [], tool_calls: 2, parts: [SENT] })],
  [SAID.tools.unreported, bare({ trace: [MODEL], tool_calls: 0, parts: [LOST, SENT] })],
  [SAID.tools.unreported, bare({ parts: [LOST] }, FAILED)],
  [SAID.tools.unreported, bare({ trace: [MODEL], tool_calls: 0, parts: [RESTARTED, SENT] })],
  [SAID.tools.notKnown, bare(null, FAILED)],
  [SAID.tools.notKnown, bare({ prompt: 'x' }, FAILED)],
  [SAID.tools.notKnown, bare({ trace: [], tool_calls: 0, parts: [SENT] }, { executor: 'external' })],
];

test.each(TOOLS)('tool calls: %s', (sentence, step) => {
  const { tools } = panel(step, 'tools');
  expect([tools.none, tools.calls]).toEqual([sentence, []]);
});

const COST: [string, StepDetail][] = [
  [SAID.cost.loaded, bare({ trace: [MODEL], loaded: LOADED }, { status: 'skipped' })],
  [SAID.cost.skipped, bare(null, { status: 'skipped' })],
  [SAID.cost.running, bare({ prompt: 'x' }, { status: 'running' })],
  [SAID.cost.notAsked, bare({ parts: [] }, FAILED)],
  [SAID.cost.noModel, bare({ trace: [], tool_calls: 0, iterations: 0, parts: [SENT] }, FAILED)],
  [SAID.cost.notKnown, bare({ trace: [MODEL], tool_calls: 0, iterations: 1, parts: [SENT] })],
  [SAID.cost.old, bare(null, { ...FAILED, usage: null })],
  [SAID.cost.unreported, bare({ parts: [LOST] }, FAILED)],
  [SAID.cost.notKnown, bare(null, FAILED)],
  [SAID.cost.notKnown, bare({ trace: [], iterations: 1, parts: [SENT] }, { executor: 'external' })],
  ['No price is known for claude-haiku. Add it under pricing.models.', bare({ parts: [SENT] }, { input_tokens: 4 })],
  ['Price from the configured table', bare({ parts: [SENT] }, { cost: 1, cost_source: 'manual', input_tokens: 4 })],
  [
    'Price from the configured table. It is the least: what the backend did not report is not in it.',
    bare({ parts: [LOST, SENT] }, { cost: 1, cost_source: 'manual', input_tokens: 4 }),
  ],
];

test.each(COST)('cost: %s', (sentence, step) => {
  expect(panel(step, 'cost').cost.why).toBe(sentence);
});

const PROMPT: [string, StepDetail][] = [
  [SAID.prompt.skipped, bare(null, { status: 'skipped' })],
  [SAID.prompt.notAsked, bare({ parts: [] }, FAILED)],
  [SAID.prompt.notKnown, bare(null, FAILED)],
  [SAID.prompt.notKnown, bare(null, { status: 'running' })],
  [SAID.prompt.notKnown, bare({ loaded: LOADED }, { status: 'skipped' })],
];

test.each(PROMPT)('prompt: %s', (sentence, step) => {
  expect(panel(step, 'prompt').prompt.none).toBe(sentence);
});

test.each<[string, RawResponse]>([
  ['Highlighted: values put in from the alert, earlier steps and variables.', { prompt: 'x', prompt_spans: [[0, 1]] }],
  ['No value was put into it.', { prompt: 'x', prompt_spans: [] }],
  ['Which parts of it are values is not stored.', { prompt: 'x' }],
])('prompt: %s', (legend, raw) => {
  expect(panel(bare(raw), 'prompt').prompt).toMatchObject({ legend });
});

const OUTPUT: [string, StepDetail][] = [
  [SAID.output.skipped, bare(null, { status: 'skipped' })],
  [SAID.output.running, bare(null, { status: 'running' })],
  [SAID.output.notKnown, bare(null, FAILED)],
  [SAID.output.notKnown, bare({ loaded: LOADED }, { status: 'skipped' })],
];

test.each(OUTPUT)('output: %s', (sentence, step) => {
  expect(panel(step, 'output').output.none).toBe(sentence);
});

const LINE = { ts: TIMES.started_at, level: 'info', event: 'run_started', msg: 'started' };

test.each([
  [NO_LINES.noLog, []],
  [NO_LINES.notNamed, [LINE]],
])('log: %s', (sentence, log) => {
  expect(panel(bare(null), 'log', log).log.none).toBe(sentence);
});

const EVIDENCE: [keyof typeof UNWEIGHED, ShownStep][] = [
  ['waits', { ...bare(null, { status: 'running' }), waits: true }],
  ['running', bare(null, { status: 'running' })],
  ['loaded', bare({ loaded: LOADED }, { status: 'skipped' })],
  ['skipped', bare(null, { status: 'skipped' })],
  ['noConfidence', bare({ parts: [SENT] }, { executor: 'webhook' })],
  ['cancelled', bare({ parts: [LOST] }, { status: 'cancelled', error: { type: 'cancelled', message: '' } })],
  ['notAsked', bare({ parts: [] }, { status: 'escalated', error: { type: 'budget', message: '' } })],
  ['unusable', bare({ text: '{', parts: [SENT] }, { ...FAILED, error: { type: 'output_invalid', message: '' } })],
  ['noAnswer', bare({ parts: [LOST] }, FAILED)],
  ['noAnswer', bare(null, FAILED)],
  ['notKnown', bare(null, { primary_confidence: 0.9 })],
];

test.each(EVIDENCE)('evidence: %s', (why, step) => {
  expect(evidenceView(step)).toMatchObject({ sentence: UNWEIGHED[why], trust: null });
});

test.each([
  ['Passed the gate', { passed: true }],
  ['Did not pass: escalated', { passed: false, action: 'escalate' }],
  ['Did not pass: aborted', { passed: false, action: 'abort' }],
  ['Did not pass: went on', { passed: false, action: 'proceed' }],
  ['No gate', { passed: null }],
] as const)('evidence: %s', (word, report) => {
  const view = evidenceView(stepDetail({ trust_report: trustReport({ ...report, sentence: 'As it was stored.' }) }));
  expect([view.verdict.word, view.sentence]).toEqual([word, 'As it was stored.']);
});

const OPINION = { agent: 'b', model: null, provider: null, summary: null, input_tokens: null, output_tokens: null };
const said = (score: number | null, error?: string) => ({ ...OPINION, score, ...(error ? { error } : {}) });
const signal = (name: 'verifier' | 'grounding', value: number | null, enforced = true) => ({
  signal: name,
  value,
  enforced,
});

test.each<[string, Fields]>([
  ['lowered the confidence from 0.91', reported('verifier', said(0.8), [signal('verifier', 0.8)])],
  ['did not lower the confidence', reported('verifier', said(0.99), [signal('verifier', 0.99)])],
  ['above its veto floor, so it changed nothing', reported('verifier', said(0.6), [])],
  ['gave no score, so it changed nothing', reported('verifier', said(null), [])],
  ['what it changed is not stored', { ...reported('verifier', said(0.8), []), trust_report: null }],
  ['counts for nothing', reported('verifier', said(null, 'timed out'), [])],
  ['in shadow: recorded only', reported('grounding', said(0.7), [signal('grounding', 0.7, false)])],
  ['enforced: set the trust', reported('grounding', said(0.7), [signal('grounding', 0.7)], 0.7)],
  ['enforced: lower than the confidence', reported('grounding', said(0.7), [signal('grounding', 0.7)], 0)],
  ['enforced: did not lower the trust', reported('grounding', said(0.95), [signal('grounding', 0.95)])],
  ['gave no score, so it changed nothing', reported('grounding', said(null), [])],
  ['what it changed is not stored', { ...reported('grounding', said(0.7), []), trust_report: null }],
])('second opinion: %s', (effect, fields) => {
  expect(opinionsOf(stepDetail({ primary_confidence: 0.91, effective_confidence: 0.91, ...fields }))[0]!.effect).toBe(
    effect,
  );
});

function reported(
  name: 'verifier' | 'grounding',
  opinion: ReturnType<typeof said>,
  signals: ReturnType<typeof signal>[],
  trust = 0.8,
): Fields {
  return { raw_response: { [name]: opinion }, trust_report: trustReport({ signals, trust }) };
}

test('a list of calls says what it leaves out', () => {
  const call = { type: 'tool_call', started_at: TIMES.started_at, duration_ms: 5, tool: 't', is_error: false };
  const step = bare({ trace: [call], tool_calls: 3, parts: [LOST, SENT] });
  expect(panel(step, 'tools').tools.notes).toEqual([
    '2 more calls of a tool: not in the trace.',
    'What the agent did in other attempts is not known.',
  ]);
});

test.each([
  ['OK', { is_error: false }],
  ['Error', { is_error: true }],
  ['Called', {}],
  ['Denied by policy', { type: 'tool_denied' }],
])('a call of a tool: %s', (word, fields) => {
  const trace = [
    { type: 'tool_call', started_at: TIMES.started_at, duration_ms: 5, server: 's', tool: 't', ...fields },
  ];
  expect(panel(bare({ trace }), 'tools').tools.calls).toMatchObject([{ name: 's / t', look: { word }, wait: '' }]);
});

test.each([
  ['approved', 'tool_call', 'OK', 'Waited 12.0 s for approval: approved by ann'],
  ['rejected', 'tool_denied', 'Not approved', 'Waited 12.0 s for approval: rejected by ann'],
] as const)('a call that a person %s appears once, with its wait', (status, type, word, wait) => {
  const of = { server: 's', tool: 't', call_id: 'c' };
  const trace = [
    { type: 'approval', started_at: TIMES.started_at, duration_ms: 12_000, ...of },
    { type, started_at: TIMES.ended_at, duration_ms: 5, is_error: false, ...of },
  ];
  const step = bare({ trace });
  const tool = { agent: 'a', server: 's', tool: 't', input: { pod: 'x' }, input_sha256: '', reason: null };
  const approvals = [approvalLine({ step_name: 'triage', kind: 'tool', tool, status, decided_by: 'ann' })];
  const { calls } = toolsOf(step, approvals);
  expect(calls).toMatchObject([{ name: 's / t', look: { word }, wait, input: { text: '1 key' } }]);
  expect(calls).toHaveLength(1);
});

test('a call that waits for a person is listed while its step runs', () => {
  const tool = { agent: 'a', server: 's', tool: 't', input: {}, input_sha256: '', reason: null };
  const { calls } = toolsOf(bare(null, { status: 'running' }), [
    approvalLine({ step_name: 'triage', kind: 'tool', tool }),
  ]);
  expect(calls).toMatchObject([{ name: 's / t', look: { word: 'Waits for approval' } }]);
});

function toolsOf(step: ShownStep, approvals: Parameters<typeof panelView>[0]['approvals']) {
  const run = runDetail({ steps: [step] });
  const at = { group: null, tab: 'tools' as const, log: [], operator: false, now: 0, currency: 'USD' };
  const view = panelView({ run, step, approvals, ...at, hrefOf: (id) => id, stepHref: (name) => name });
  return view.tools as unknown as { calls: object[] };
}

test('every sentence has a row', () => {
  const rows = [...TOOLS, ...COST, ...PROMPT, ...OUTPUT].map(([sentence]) => sentence);
  expect(
    Object.values(SAID)
      .flatMap((group) => Object.values(group))
      .filter((one) => !rows.includes(one)),
  ).toEqual([]);
  expect(Object.keys(UNWEIGHED).filter((why) => !EVIDENCE.some(([row]) => row === why))).toEqual([]);
});
