import { expect, test } from 'vitest';
import { agentVersions } from '../../analytics/agent-versions.ts';
import { calibrate } from '../../analytics/calibration.ts';
import { promptVersions } from '../../analytics/prompt-versions.ts';
import { VIEWER } from './fixtures/fake-deps.ts';
import { pagesWith } from './fixtures/pages-with.ts';
import { readinessReport, readinessStep } from './fixtures/readiness.ts';
import { NOW, runDetail, runLine, stepDetail, trustReport, unmarkedLine } from './fixtures/runs.ts';
import { runSum, statisticsOf, stepSum } from './fixtures/statistics.ts';
import type { ApprovalLine } from '../../service/views/approval.ts';
import type { AuditLine } from '../../service/views/audit.ts';
import { bucketView } from '../../service/views/analytics/calibration.ts';
import type { RunDetail } from '../../service/views/run.ts';
import { agentVersionView, promptVersionView } from '../../service/views/analytics/versions.ts';

/** Every page in states that differ in what they know: a template that asks for more than its view says fails here. */

type World = Parameters<typeof pagesWith>[0];

const iso = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();
const LOOKER = { ...VIEWER, role: 'viewer' as const };

const bare = stepDetail({
  step_name: 'bare',
  agent: null,
  model: null,
  provider: null,
  primary_confidence: null,
  effective_confidence: null,
  checks: [],
  trust_report: null,
  prompt_hash: null,
  input_tokens: null,
  output_tokens: null,
  cost: null,
  cost_source: null,
  summary: null,
  output: null,
  raw_response: null,
});
const step = (name: string, fields: Parameters<typeof stepDetail>[0] = {}) =>
  stepDetail({ ...bare, step_name: name, ...fields });

const STEPS = {
  triage: stepDetail({ artifacts: ['report.md'], attempts: 2 }),
  running: step('running', { status: 'running', completed_at: null }),
  skipped: step('skipped', { status: 'skipped' }),
  failed: step('failed', { status: 'failed', error: { type: 'timeout', message: 'no answer' } }),
  ungated: step('ungated', {
    trust_report: trustReport({ signals: [], trust: null, threshold: null, passed: null }),
  }),
  unsure: step('unsure', {
    status: 'escalated',
    trust_report: trustReport({ passed: false, action: 'escalate' }),
    error: { type: 'gate', message: 'below' },
    raw_response: {
      verifier: {
        agent: 'reviewer',
        model: null,
        provider: null,
        score: null,
        summary: null,
        error: 'no JSON',
      },
      iterations_before: [{ confidence: null, summary: null }],
    },
  }),
  ask: step('ask', { executor: 'human', status: 'running', completed_at: null }),
  hook: step('hook', { executor: 'webhook', raw_response: { http: { status: 500, body: 'broken' } } }),
  sub: step('sub', { executor: 'pipeline', raw_response: { child_run_id: 'c1' } }),
  each: step('each', { kind: 'fan_out', executor: 'fan_out', raw_response: { items: ['a', { name: 'b' }] } }),
  'each/0': step('each/0', { kind: 'fan_out_branch' }),
  both: step('both', { kind: 'parallel', executor: 'parallel' }),
  left: step('left', { kind: 'branch' }),
};
const BRANCHES = [
  { name: 'left', executor: 'human', weight: 2 },
  { name: 'right', executor: 'human', weight: 1 },
];
const DEFINITION = {
  steps: [
    { name: 'triage', executor: 'gateway', agent: 'a', use: 'look', confidence_threshold: 0.7, loop_until: 'true' },
    { name: 'both', parallel: { join: 'weighted_average', steps: BRANCHES } },
    {
      name: 'each',
      fan_out: { over: 'context.items', as: 'item', join: 'all_must_pass', step: { executor: 'human' } },
    },
  ],
};
const run = (fields: Partial<RunDetail>) => runDetail({ id: 'r1', ...fields });
const nowhere = { completed_at: null, trust: null, threshold: null, summary: null, severity: null, team: null };

const RUNS: Record<string, RunDetail> = {
  'a run of every kind of step': run({
    steps: Object.values(STEPS),
    children: [runLine({ id: 'c1' })],
    reruns: [runLine({ id: 'r9' })],
    rerun_of: 'r0',
    parent_run_id: 'p1',
  }),
  'a run that has not begun': run({ ...nowhere, status: 'queued', steps: [], context: {} }),
  'a run that waits for a person': run({
    ...nowhere,
    status: 'running',
    waiting_on: 'human',
    current_step: 'ask',
    steps: [STEPS.ask],
  }),
  'a run that waits for a sub-run': run({ status: 'running', waiting_on: 'run:c1', steps: [STEPS.sub], ...nowhere }),
  'a run that failed before a step': run({ status: 'failed', steps: [], error: { step: null, message: 'broken' } }),
  'a run that failed in a step': run({
    status: 'failed',
    steps: [STEPS.failed],
    error: { step: 'failed', message: 'no answer' },
  }),
  ...Object.fromEntries(
    (['aborted', 'escalated', 'stopped', 'cancelled', 'interrupted'] as const).map((status) => [
      `a run that is ${status}`,
      run({ status, steps: [STEPS.unsure], error: { step: 'unsure', message: 'below' } }),
    ]),
  ),
};
const approval = (status: ApprovalLine['status'], fields: Partial<ApprovalLine> = {}): ApprovalLine => ({
  id: status,
  run_id: 'r1',
  pipeline: 'checkout',
  kind: 'step',
  step_name: 'ask',
  team: null,
  stage: 'testing',
  question: 'Restart?',
  fields: [{ name: 'size', type: 'string', required: false }],
  tool: null,
  requested_at: iso(60),
  expires_at: iso(-60),
  status,
  decided_at: status === 'pending' ? null : iso(10),
  decided_by: null,
  comment: null,
  answers: null,
  required: 1,
  approved_by: [],
  not_the_starter: false,
  approvers: null,
  ...fields,
});
const APPROVALS = [
  approval('pending'),
  approval('approved', { decided_by: 'ada', answers: { size: 'large' }, comment: 'go' }),
  approval('timed_out'),
  approval('cancelled', {
    tool: { agent: 'a', server: 's', tool: 't', input: { pod: 'x' }, input_sha256: 'a1b2', reason: null },
    decided_at: null,
  }),
];
const LOG = Array.from({ length: 1100 }, (_, n) => ({
  ts: iso(n),
  level: 'info',
  event: 'x',
  msg: 'y',
  ...(n % 2 === 0 && { step_name: 'triage' }),
}));
const TABS = ['evidence', 'prompt', 'output', 'tools', 'log', 'cost'];

test.each(Object.entries(RUNS))('%s shows every step, tab and view', async (_name, detail) => {
  for (const viewer of [VIEWER, LOOKER]) {
    const world = { viewer, details: [detail], runDefinition: DEFINITION, approvals: APPROVALS, log: LOG };
    const { get } = await pagesWith(world);
    const steps = detail.steps.map(({ step_name }) => encodeURIComponent(step_name));
    const asked = steps.flatMap((name) => TABS.map((tab) => `?step=${name}&tab=${tab}`));
    for (const query of ['', '?view=log', ...asked]) expect((await get(`/ui/runs/r1${query}`)).statusCode).toBe(200);
  }
});

const entry = (config: Record<string, unknown>, name = 'checkout') => ({
  name,
  file: `${name}.yaml`,
  text: `name: ${name}\n`,
  hash: 'h',
  config,
  uses: ['look'],
});
const seen = (at: number) => ({ firstSeenAt: NOW - at * 1000, lastSeenAt: NOW, runsTotal: 1, labelledN: 0 });
const audit = (id: number, fields: Partial<AuditLine> = {}): AuditLine => ({
  id,
  ts: iso(id),
  actor: 'ada',
  actor_kind: 'token',
  role: 'admin',
  action: 'pipeline.update',
  target_type: 'pipeline',
  target: 'checkout',
  run_id: null,
  outcome: 'ok',
  prior_yaml: null,
  request_id: null,
  ...fields,
});
const KEY = { agent: 'a', provider: null, model: null, promptHash: null, agentVersion: null };
const ENDED = {
  ended: [runSum(), runSum({ status: 'failed' })],
  steps: [stepSum(), stepSum({ cost: 1, unpriced: 0 })],
};
const FULL: World = {
  statistics: statisticsOf(ENDED, { ended: [stepSum()] }),
  buckets: Array.from({ length: 9 }, (_, n) =>
    calibrate([{ ...KEY, model: `m${n}`, confidence: 0.9, label: 1, n: n * 5 }], { nMin: 20, binWidth: 0.1 }).map(
      bucketView,
    ),
  ).flat(),
  promptVersions: promptVersions(
    Array.from({ length: 25 }, (_, n) => ({
      promptHash: `p${n}`,
      template: n % 2 ? `t${n}` : null,
      pipelines: [],
      ...seen(n),
    })),
    [],
  ).map(promptVersionView),
  agentVersions: agentVersions(
    Array.from({ length: 25 }, (_, n) => ({
      agentVersion: `v${n}`,
      soulMd: `s${n}`,
      agentYaml: 'x: 1',
      note: null,
      usedBySteps: n % 2 ? ['look'] : [],
      ...seen(n),
    })),
  ).map(agentVersionView),
  audit: [
    audit(1),
    ...['name: checkout\n', 'name: other\n'].map((prior_yaml, n) => audit(2 + n, { prior_yaml })),
    audit(4, { target: 'gone', prior_yaml: 'name: gone\n' }),
  ],
  lines: [
    ...Array.from({ length: 120 }, (_, n) => runLine({ id: `old-${n}` })),
    runLine(),
    runLine({ id: 'r2', ...nowhere, status: 'running', cost: null, unpriced_steps: 1 }),
    runLine({ id: 'r3', status: 'failed', feedback_outcome: 'incorrect', stage: 'testing' }),
  ],
  unmarked: {
    steps: [unmarkedLine(), unmarkedLine({ summary: null, sentence: null, output: null, trust: null })],
    more: true,
  },
  approvals: APPROVALS,
  definitions: {
    pipelines: [
      entry({
        stage: 'production',
        schedule: { cron: '0 6 * * *', timezone: 'Etc/UTC' },
        trigger: { match: { severity: 'critical' } },
      }),
      entry(
        {
          ...DEFINITION,
          suspend: true,
          tags: ['x'],
          budget: { max_cost: 1 },
          concurrency: { limit: 1, on_limit: 'queue' },
        },
        'second',
      ),
    ],
    steps: [
      entry({ executor: 'gateway', agent: 'a' }, 'look'),
      entry({ executor: 'webhook', description: 'calls' }, 'hook'),
    ],
    problems: [
      { severity: 'warning', kind: 'Pipeline', name: 'checkout', file: 'checkout.yaml', loc: [], msg: 'old', line: 1 },
      { severity: 'error', kind: 'LibraryStep', name: 'look', file: 'look.yaml', loc: ['a', 0], msg: 'bad' },
    ],
    loadedAt: NOW,
  },
  agents: {
    agents: [
      { name: 'a', executor: 'gateway', model: null, warnings: ['no key'] },
      { name: 'b', executor: 'external', model: 'm' },
    ],
    errors: { external: 'refused' },
  },
  readiness: readinessReport([readinessStep(), readinessStep({ kind: 'branch', notes: ['young'] })]),
  schedules: [
    {
      pipeline: 'checkout',
      cron: '0 6 * * *',
      timezone: 'UTC',
      next_run: iso(-600),
      suspended: false,
      missed: 0,
      last_missed_at: null,
    },
    {
      pipeline: 'second',
      cron: '*/5 * * * *',
      timezone: 'UTC',
      next_run: null,
      suspended: false,
      missed: 0,
      last_missed_at: null,
    },
  ],
  gatewayTools: {
    kind: 'found',
    servers: [
      {
        name: 's',
        transport: 'stdio',
        state: 'running',
        tool_count: 0,
        restart_count: 0,
        started_at: iso(60),
        last_error: null,
      },
    ],
    tools: [],
    policy: {
      default: 'deny',
      rules: [{ action: 'allow', server: null, tool: null, agent: null, input_regex: null, reason: null }],
    },
  },
  syncedObjects: [
    {
      kind: 'Pipeline',
      namespace: 'a',
      name: 'checkout',
      definition: 'checkout',
      hash: 'h',
      conditions: [],
      replicas: [],
    },
    {
      kind: 'LibraryStep',
      namespace: 'a',
      name: 'look',
      definition: null,
      hash: null,
      conditions: [
        { type: 'Accepted', status: 'False', reason: 'Invalid', message: 'bad' },
        { type: 'Ready', status: 'Unknown' },
      ],
      replicas: Array.from({ length: 30 }, (_, n) => ({ pod: `p${n}`, hash: n % 2 ? 'h' : null })),
    },
  ],
  gatewayObjects: { kind: 'found', objects: [] },
};
const UNREACHABLE: World = {
  gatewayTools: { kind: 'unreachable', message: 'refused' },
  gatewayObjects: { kind: 'unreachable', message: 'refused' },
  agents: { agents: [], errors: { gateway: 'refused' } },
  syncedObjects: [],
};
const PAGES = [
  '/ui/',
  '/ui/runs',
  '/ui/runs?page=2&since=2026-01-01T00:00:00Z&until=2027-01-01T00:00:00Z&source=x',
  '/ui/approvals',
  '/ui/pipelines',
  '/ui/steps',
  '/ui/steps/look',
  '/ui/steps/hook',
  '/ui/agents',
  '/ui/agents/a',
  '/ui/tools',
  '/ui/schedules',
  '/ui/insights',
  '/ui/insights?time_range=all&stage=all',
  '/ui/golden-sets',
  '/ui/marking',
  '/ui/marking?pipeline=checkout',
  '/ui/audit',
  '/ui/audit?action=pipeline.update&page=2',
  ...[2, 3, 4].map((id) => `/ui/audit?open=${id}`),
  '/ui/sync',
  '/ui/sync?state=trouble&q=x',
  '/ui/docs',
  '/ui/docs/runs',
];
const PIPELINES = ['checkout', 'second'].map((name) => `/ui/pipelines/${name}`);
const STATES: [string, World, readonly string[]][] = [
  ['an empty service', {}, PAGES],
  ['a service with everything', FULL, [...PAGES, ...PIPELINES]],
  ['a viewer without rights', { ...FULL, viewer: LOOKER }, [...PAGES, ...PIPELINES]],
  ['a gateway that does not answer', UNREACHABLE, PAGES],
];

test.each(STATES)('%s has every page', async (_name, world, pages) => {
  const { get } = await pagesWith(world);
  for (const url of pages) {
    const { statusCode } = await get(url);
    // The step and the agent of a service that has neither are not found.
    expect([200, 404]).toContain(statusCode);
  }
});

test('nobody is logged in: the login page, and what a wrong token answers', async () => {
  const { get, post } = await pagesWith({ viewer: null });
  expect((await get('/ui/login')).statusCode).toBe(200);
  expect((await post('/ui/login', { token: 'wrong' })).statusCode).toBe(401);
});
