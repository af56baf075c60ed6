import { expect, test } from 'vitest';
import type { ApprovalLine } from '../../../../service/views/approval.ts';
import type { LogLine } from '../../../../service/views/run.ts';
import type { RawResponse, StepDetail, StepPart } from '../../../../service/views/step.ts';
import { approvalLine } from '../../fixtures/approvals.ts';
import { NOW, runDetail, stepDetail } from '../../fixtures/runs.ts';
import type { ShownStep } from '../step/shown-step.ts';
import { timelineView } from './timeline.ts';

const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();

interface Given {
  steps: ShownStep[];
  to?: string | null;
  log?: LogLine[];
  approvals?: ApprovalLine[];
  run?: Partial<ReturnType<typeof runDetail>>;
  chosen?: string;
  zoomed?: boolean;
}

const view = ({ steps, to = at(10), log = [], approvals = [], run = {}, chosen = 'triage', zoomed = false }: Given) =>
  timelineView({
    run: runDetail({ triggered_at: at(0), completed_at: to, steps, ...run }),
    steps,
    log,
    approvals,
    now: NOW + 20_000,
    chosen,
    hrefOf: (step) => `?step=${step}`,
    pinOf: () => null,
    zoomed,
    zoomHref: (on) => `?zoom=${on}`,
  });

const BARE: Partial<StepDetail> = { checks: [], trust_report: null, raw_response: null };
const ran = (from: number, to: number, fields: Partial<StepDetail> = {}) =>
  stepDetail({ ...BARE, started_at: at(from), completed_at: at(to), ...fields });
const part = (name: StepPart['part'], [from, to]: [number, number], more: Partial<StepPart> = {}): StepPart => ({
  part: name,
  started_at: at(from),
  ended_at: at(to),
  iteration: 1,
  attempt: 1,
  ...more,
});
const withRaw = (raw: RawResponse, fields: Partial<StepDetail> = {}) => ran(0, 10, { raw_response: raw, ...fields });
const line = (seconds: number, event: string, more: Partial<LogLine> = {}): LogLine => ({
  ts: at(seconds),
  level: 'info',
  event,
  msg: event,
  step_name: 'triage',
  ...more,
});
/** Label, seconds after the start of the run, and time of each part of the chosen step. */
const partsOf = (given: Given) =>
  view(given).rows.flatMap(({ parts }) => parts.map(({ label, at: from, time }) => `${label} ${from} ${time}`));
const barsOf = (given: Given) => view(given).rows[0]!.track.bars.map(({ kind, y }) => [kind, y]);

test('a bar stands where the step ran, with model and tool calls inside it', () => {
  const trace = [
    { type: 'llm_call', started_at: at(3), duration_ms: 1000, model: 'm' },
    { type: 'tool_call', started_at: at(4), duration_ms: 500, server: 's', tool: 't' },
  ];
  const [row] = view({ steps: [ran(2, 7, { raw_response: { trace } })] }).rows;
  expect(row).toMatchObject({ duration: '5.0 s', whole: { x: '20.000%', width: '50.000%' } });
  expect(row!.track.bars).toMatchObject([
    { kind: 'model', x: '30.000%', width: '10.000%' },
    { kind: 'tool', x: '40.000%', width: '5.000%' },
  ]);
});

test.each<[string, Given, string[]]>([
  [
    'every attempt and iteration, and the pauses between them',
    {
      steps: [
        withRaw({
          parts: [
            part('attempt', [0, 2], { error: 'provider_error: overloaded' }),
            part('pause', [2, 3], { attempt: 2 }),
            part('attempt', [3, 5], { attempt: 2 }),
            part('attempt', [5, 9], { attempt: 2, iteration: 2 }),
          ],
        }),
      ],
    },
    [
      'first-line-triage, iteration 1, attempt 1 +0 ms 2.0 s',
      'Pause before the next attempt +2.0 s 1.0 s',
      'first-line-triage, iteration 1, attempt 2 +3.0 s 2.0 s',
      'first-line-triage, iteration 2, attempt 2 +5.0 s 4.0 s',
    ],
  ],
  [
    'queue, slot and restart',
    {
      steps: [
        withRaw({
          parts: [part('before_restart', [0, 1]), part('queue', [1, 2]), part('attempt', [1, 8]), part('slot', [8, 9])],
        }),
      ],
    },
    [
      'Before the service started again +0 ms 1.0 s',
      'first-line-triage +1.0 s 7.0 s',
      'Queue of the backend +1.0 s 1.0 s',
      'Wait for a slot +8.0 s 1.0 s',
    ],
  ],
  [
    'a webhook and what it was told',
    {
      steps: [withRaw({ parts: [part('attempt', [0, 2]), part('failure_webhook', [3, 4])] }, { executor: 'webhook' })],
    },
    ['Webhook +0 ms 2.0 s', 'on_failure.webhook +3.0 s 1.0 s'],
  ],
  [
    'verifier, judge and checks',
    {
      steps: [
        withRaw(
          { verifier: opinion('reviewer', [5, 8]), grounding: opinion('judge', [5, 7]) },
          {
            checks: [
              { name: 'up', type: 'webhook', passed: true, detail: '', duration_seconds: 0.5, started_at: at(5) },
            ],
          },
        ),
      ],
    },
    ['Verifier: reviewer +5.0 s 3.0 s', 'Grounding judge: judge +5.0 s 2.0 s', 'Check: up +5.0 s 500 ms'],
  ],
  [
    'an approved call once, with its wait',
    {
      steps: [
        withRaw({
          trace: [
            { type: 'approval', started_at: at(2), duration_ms: 3000, server: 's', tool: 't' },
            { type: 'tool_call', started_at: at(5), duration_ms: 1000, server: 's', tool: 't' },
          ],
        }),
      ],
      approvals: [toolApproval()],
    },
    ['Approval of s / t +2.0 s 3.0 s', 's / t +5.0 s 1.0 s'],
  ],
  [
    'an approval that somebody else answered',
    {
      steps: [withRaw({ trace: [{ type: 'approval', started_at: at(2), duration_ms: 3000, server: 's', tool: 't' }] })],
    },
    ['Approval of s / t +2.0 s 3.0 s'],
  ],
])('%s', (_what, given, parts) => {
  expect(partsOf(given)).toEqual(parts);
});

function opinion(agent: string, [from, to]: [number, number]) {
  const nothing = { model: null, provider: null, score: 0.9, summary: null, input_tokens: null, output_tokens: null };
  return { agent, ...nothing, started_at: at(from), ended_at: at(to) };
}

function toolApproval(fields: Partial<ApprovalLine> = {}): ApprovalLine {
  const tool = { agent: 'a', server: 's', tool: 't', input: {}, input_sha256: '', reason: null };
  const decided = { status: 'approved', requested_at: at(2), decided_at: at(5), decided_by: 'ann' } as const;
  return approvalLine({ step_name: 'triage', kind: 'tool', tool, ...decided, ...fields });
}

test('overlapping work is stacked, what follows is not', () => {
  const call = (from: number, ms: number) => ({ type: 'tool_call', started_at: at(from), duration_ms: ms, tool: 't' });
  const bars = barsOf({ steps: [withRaw({ trace: [call(1, 4000), call(2, 1000), call(3, 1000), call(6, 1000)] })] });
  expect(bars).toEqual([
    ['tool', 6],
    ['tool', 16],
    ['tool', 16],
    ['tool', 6],
  ]);
});

test('what an attempt holds lies before it, not below it', () => {
  const trace = [{ type: 'llm_call', started_at: at(1), duration_ms: 1000 }];
  expect(barsOf({ steps: [withRaw({ trace, parts: [part('attempt', [0, 9])] })] })).toEqual([
    ['agent', 3],
    ['model', 6],
  ]);
});

test('parts without a length, and steps that did not run here, are not drawn', () => {
  const trace = [
    { type: 'tool_call', started_at: at(1), duration_ms: 0, tool: 't' },
    { type: 'tool_denied', started_at: at(2), duration_ms: 0, tool: 't' },
    { type: 'tool_call', started_at: 'never', duration_ms: 5 },
    null,
    'x',
  ];
  const { rows } = view({
    steps: [
      withRaw({ trace }),
      ran(3, 3, { status: 'skipped' }),
      ran(3, 9, { raw_response: { loaded: { step_id: 'x', status: 'completed' }, parts: [part('attempt', [3, 9])] } }),
    ],
  });
  expect(rows.map(({ track }) => track.bars.length)).toEqual([0, 0, 0]);
  expect(rows.map(({ whole }) => whole !== null)).toEqual([true, false, false]);
});

test('calls by another clock stay inside of their step', () => {
  const trace = [{ type: 'llm_call', started_at: at(-50), duration_ms: 1e12 }];
  const [row] = view({ steps: [ran(2, 7, { raw_response: { trace } })] }).rows;
  expect(row!.track.bars).toMatchObject([{ x: '20.000%', width: '50.000%' }]);
});

test('a run that was queued has a bar for it, from its trigger to its start', () => {
  const log = [line(0, 'run_queued', { step_name: undefined }), line(4, 'run_started', { step_name: undefined })];
  expect(view({ steps: [ran(4, 9)], log }).queue).toMatchObject({ time: '4.0 s', bar: { width: '40.000%' } });
  expect(view({ steps: [ran(4, 9)] }).queue).toBeNull();
});

test('a branch that waited for its turn says so', () => {
  const group = ran(0, 9, { step_name: 'each', kind: 'fan_out', executor: 'fan_out' });
  const branch = ran(4, 9, { step_name: 'each/1', kind: 'fan_out_branch' });
  expect(partsOf({ steps: [group, branch], chosen: 'each/1' })).toEqual(['Turn of each/1 in each +0 ms 4.0 s']);
});

test.each<[string, LogLine[], string[], boolean]>([
  ['an agent that answers', [], ['first-line-triage +10.0 s 10.0 s'], true],
  [
    'a queue, a model and a tool that has not answered',
    [
      line(10, 'queued'),
      line(12, 'started'),
      line(14, 'llm_call', { model: 'm', duration_ms: 2000 }),
      line(15, 'tool_call', { call_id: 'c', server: 's', tool: 't' }),
    ],
    [
      'first-line-triage +10.0 s 10.0 s',
      'Queue of the backend +10.0 s 2.0 s',
      'm +12.0 s 2.0 s',
      's / t +15.0 s 5.0 s',
    ],
    true,
  ],
  [
    'a second attempt',
    [line(13, 'step_retry', { delay_ms: 1000 })],
    [
      'first-line-triage +10.0 s 3.0 s',
      'Pause before the next attempt +13.0 s 1.0 s',
      'first-line-triage +14.0 s 6.0 s',
    ],
    true,
  ],
  [
    'a verifier that is asked',
    [line(16, 'verifier_asked', { agent: 'reviewer' })],
    ['first-line-triage +10.0 s 6.0 s', 'Verifier: reviewer +16.0 s 4.0 s'],
    true,
  ],
])('a step that still runs shows %s, up to now', (_what, log, parts, live) => {
  const step = ran(10, 10, { status: 'running', completed_at: null });
  const given = { steps: [step], to: null, log, run: { status: 'running' as const } };
  expect(partsOf(given)).toEqual(parts);
  const shown = view(given);
  expect(shown.rows[0]!.track.bars.some((bar) => bar.live)).toBe(live);
  expect(shown.rows[0]).toMatchObject({ since: at(10), whole: { x: '50.000%', width: '50.000%', live: true } });
  expect(shown.grow).toBeGreaterThan(0);
});

test.each([
  ['webhook', 'Webhook'],
  ['pipeline', 'Sub-run'],
] as const)('a step of executor %s that still runs has a part of its kind', (executor, label) => {
  const step = ran(10, 10, { status: 'running', completed_at: null, executor, agent: null });
  expect(partsOf({ steps: [step], to: null, run: { status: 'running' } })).toEqual([`${label} +10.0 s 10.0 s`]);
});

test('a question that nobody has answered yet grows', () => {
  const step = ran(0, 0, { status: 'running', completed_at: null, executor: 'human' });
  const asked = approvalLine({ step_name: 'triage', requested_at: at(1), status: 'pending', decided_at: null });
  const [row] = view({ steps: [{ ...step, waits: true }], to: null, approvals: [asked] }).rows;
  expect(row!.parts).toMatchObject([{ label: 'Approval', note: 'not decided yet', since: at(1), time: '19.0 s' }]);
});

test('zoomed in, the axis is the time of the chosen step, and times still count from the start of the run', () => {
  const step = ran(4, 8, { raw_response: { parts: [part('attempt', [5, 6])] } });
  const given = { steps: [ran(0, 3, { step_name: 'before' }), step], zoomed: true };
  const [before, chosen] = view(given).rows;
  expect(before!.whole).toBeNull();
  expect(chosen).toMatchObject({ whole: { x: '0.000%', width: '100.000%' }, parts: [{ at: '+5.0 s' }] });
  expect(chosen!.track.bars).toMatchObject([{ x: '25.000%', width: '25.000%' }]);
  expect(view(given).zoom).toEqual({ href: '?zoom=false', word: 'Show the whole run' });
});

test('the legend names what is drawn and nothing else', () => {
  const trace = [{ type: 'llm_call', started_at: at(1), duration_ms: 1000 }];
  expect(view({ steps: [withRaw({ trace, parts: [part('pause', [3, 4])] })] }).legend.map(({ word }) => word)).toEqual([
    'model',
    'pause before a retry',
  ]);
});

test('only the chosen step lists its parts, and not more than a page can show', () => {
  const trace = Array.from({ length: 200 }, (_, i) => ({ type: 'llm_call', started_at: at(i / 25), duration_ms: 20 }));
  const other = ran(0, 5, { step_name: 'other', raw_response: { trace } });
  const [row, second] = view({ steps: [withRaw({ trace }), other] }).rows;
  expect([row!.parts.length, row!.more, second!.parts.length]).toEqual([80, '120 more parts are not listed', 0]);
});

test('a run without a length has an axis all the same', () => {
  const { rows, ticks } = view({ steps: [ran(0, 0)], to: at(0) });
  expect(JSON.stringify(rows)).not.toContain('NaN');
  expect(ticks.length).toBeLessThanOrEqual(6);
});

test('what a step is shown with is read a few times, however many attempts and calls it has', () => {
  let reads = 0;
  const counted = <T extends object>(of: T, key: keyof T): T => {
    const { [key]: value } = of;
    return Object.defineProperty(of, key, { enumerable: true, get: () => ((reads += 1), value) });
  };
  const parts = Array.from({ length: 300 }, () => counted(part('attempt', [0, 1]), 'iteration'));
  const trace = Array.from({ length: 300 }, () => ({ type: 'llm_call', started_at: at(1), duration_ms: 10 }));
  const { rows } = view({ steps: [counted(withRaw({ parts, trace }), 'started_at')] });
  expect(rows[0]?.more).toBe('520 more parts are not listed');
  expect(reads).toBeLessThan(2 * parts.length);
});
