import { escapeExpression } from 'handlebars';
import { expect, test } from 'vitest';
import { agentVersions } from '../../analytics/agent-versions.ts';
import { calibrate } from '../../analytics/calibration.ts';
import { promptVersions } from '../../analytics/prompt-versions.ts';
import { modelBreakdown, stepStats } from '../../analytics/step-stats.ts';
import { bucketView } from '../../service/views/analytics/calibration.ts';
import type { DeliveryDetail } from '../../service/views/kept-delivery.ts';
import type { AuditLine } from '../../service/views/audit.ts';
import { agentVersionView, promptVersionView } from '../../service/views/analytics/versions.ts';
import { VIEWER } from './fixtures/fake-deps.ts';
import { approvalLine } from './fixtures/approvals.ts';
import { goldenMember, goldenSet, SET_ID } from './fixtures/golden-sets.ts';
import { pagesWith } from './fixtures/pages-with.ts';
import { count } from './format.ts';
import { readinessReport, readinessStep } from './fixtures/readiness.ts';
import { replayReport, replayRow } from './fixtures/replays.ts';
import { NOW, runDetail, runLine, stepDetail, unmarkedLine } from './fixtures/runs.ts';
import { runSum, statisticsOf, stepSum } from './fixtures/statistics.ts';

/** What the largest pages hold after a busy week: texts as long as agents, tools and people write them. */

const MOST_BYTES = 200_000;
const SENTENCE = 'The "checkout" pool has 40 of 40 connections in use & waits > 800 ms since deploy 5f9c. ';
const text = (chars: number): string => SENTENCE.repeat(Math.ceil(chars / SENTENCE.length)).slice(0, chars);
const many = <T>(n: number, of: (at: number) => T): T[] => Array.from({ length: n }, (_, at) => of(at));
const idOf = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
const iso = (at: number) => new Date(NOW - at * 60_000).toISOString();

const LABELS = Object.fromEntries(many(12, (at) => [`label_${at}`, `checkout-eu-west-${at}.shop.svc.cluster.local`]));
const MANIFEST = { kind: 'Deployment', replicas: many(30, (at) => ({ pod: `checkout-${at}`, reason: text(60) })) };

const lines = many(200, (at) =>
  runLine({
    id: idOf(at),
    summary: text(300),
    attention: 'open',
    status: 'escalated',
    error: { step: 'triage', message: text(400) },
    result: { ...runLine().result!, conclusion: text(400) },
  }),
);
const approvals = many(100, (at) =>
  approvalLine({
    id: idOf(at),
    run_id: idOf(at),
    kind: 'tool',
    status: at < 50 ? 'pending' : 'approved',
    decided_at: at < 50 ? null : iso(at),
    comment: text(200),
    question: text(500),
    tool: {
      agent: 'first-line-triage',
      server: 'cluster',
      tool: 'apply_manifest',
      input: MANIFEST,
      input_sha256: 'a'.repeat(64),
      reason: text(200),
    },
  }),
);
const steps = many(60, (at) =>
  stepDetail({
    id: idOf(at),
    step_name: `step-${at}`,
    summary: text(300),
    output: { action: 'restart', detail: text(6_000) },
    raw_response: {
      prompt: text(8_000),
      text: text(4_000),
      trace: many(12, (n) => ({
        type: 'tool_call',
        started_at: new Date(NOW - 300_000 + n * 600).toISOString(),
        duration_ms: 400,
        server: 'metrics',
        tool: 'query',
        input: { query: text(300) },
        result: text(3_000),
      })),
    },
  }),
);
const log = many(1_100, (at) => ({
  ts: iso(at),
  level: 'info',
  event: 'tool_called',
  msg: text(120),
  step_name: 'step-1',
}));
const yaml = (bytes: number) =>
  `name: checkout\nsteps:\n${many(Math.ceil(bytes / 128), (at) => `  - name: step-${at}\n    executor: gateway\n    agent: first-line\n    prompt_template: "look at {{summary}} of ${at}"\n`).join('')}`.slice(
    0,
    bytes,
  );
const entry = (name: string, of: { text?: string; steps?: number } = {}) => ({
  name,
  file: `${name}.yaml`,
  text: of.text ?? yaml(400),
  hash: 'h',
  config: {
    description: text(200),
    tags: ['payments', 'eu'],
    steps: many(of.steps ?? 5, (at) => ({
      name: `step-${at}`,
      executor: 'gateway',
      agent: 'first-line',
      prompt_template: text(400),
    })),
  },
  uses: ['look'],
});
const KEY = { agent: 'first-line', provider: 'anthropic', promptHash: '9c1be2f04a7d', agentVersion: 'v1' };
const buckets = many(60, (at) =>
  calibrate(
    many(10, (n) => ({ ...KEY, model: `model-${at}`, confidence: n / 10, label: 1 as const, n: 30 })),
    { nMin: 20, binWidth: 0.1 },
  ).map(bucketView),
).flat();
const seen = (at: number) => ({ firstSeenAt: NOW - at * 1000, lastSeenAt: NOW, runsTotal: 1, labelledN: 0 });
const audit = many(100, (at): AuditLine => ({
  id: at,
  ts: iso(at),
  actor: 'ada',
  actor_kind: 'token',
  role: 'admin',
  action: 'pipeline.update',
  target_type: 'pipeline',
  target: `checkout-errors-${at}`,
  run_id: idOf(at),
  outcome: 'ok',
  prior_yaml: yaml(20_000),
  request_id: idOf(at),
}));

const WORLD: Parameters<typeof pagesWith>[0] = {
  lines,
  approvals,
  log,
  audit,
  buckets,
  details: [
    runDetail({ id: 'r1', steps, context: { labels: LABELS, raw: { body: text(60_000) } } }),
    runDetail({ id: 'r2', steps, context: { labels: LABELS } }),
  ],
  runDefinition: entry('checkout', { steps: 60 }).config,
  definitions: {
    pipelines: [entry('checkout', { text: yaml(262_144), steps: 60 }), ...many(499, (at) => entry(`pipeline-${at}`))],
    steps: many(200, (at) => entry(`look-${at}`)),
  },
  readiness: readinessReport(many(60, (at) => readinessStep({ step: `step-${at}` } as never))),
  unmarked: {
    steps: many(20, () => unmarkedLine({ summary: text(400), output: { detail: text(3_000) } })),
    more: true,
  },
  statistics: statisticsOf({
    ended: many(500, (at) => runSum({ pipeline: `pipeline-${at}` })),
    steps: [stepSum()],
  }),
  promptVersions: promptVersions(
    many(40, (at) => ({
      promptHash: `p${at}`,
      template: `${text(8_000)} ${at}`,
      pipelines: ['checkout'],
      ...seen(at),
    })),
    [],
  ).map(promptVersionView),
  agentVersions: agentVersions(
    many(25, (at) => ({
      agentVersion: `v${at}`,
      soulMd: text(8_000),
      agentYaml: yaml(2_000),
      note: null,
      usedBySteps: ['look'],
      ...seen(at),
    })),
  ).map(agentVersionView),
  agents: {
    agents: many(
      100,
      (at) =>
        ({
          name: at < 50 ? 'first-line' : `first-line-${at}`,
          executor: 'gateway',
          model: 'm',
          warnings: [text(200)],
        }) as never,
    ),
    errors: {},
  },
  goldenSets: [goldenSet({ rows: many(200, () => goldenMember({ summary: text(400), note: text(300) })) })],
  reports: [
    replayReport({
      rows: many(100, () =>
        replayRow({ source_summary: text(300) }, { summary: text(400), output: { detail: text(3_000) } }),
      ),
    }),
  ],
};

const PAGES = [
  '/ui/',
  '/ui/runs',
  '/ui/runs?limit=100',
  '/ui/approvals',
  '/ui/audit',
  '/ui/pipelines',
  '/ui/pipelines/checkout',
  '/ui/pipelines/checkout/run',
  '/ui/steps',
  '/ui/steps/look-1',
  '/ui/agents',
  '/ui/agents/first-line',
  '/ui/marking',
  '/ui/insights',
  '/ui/teams',
  '/ui/golden-sets',
  `/ui/golden-sets/${SET_ID}`,
  '/ui/replays',
  '/ui/replays/b1',
  '/ui/replays/new?step=look-1',
  '/ui/runs/r1/compare/r2',
  '/ui/validate',
  '/ui/docs',
  ...[
    '',
    '?view=log',
    ...['evidence', 'prompt', 'output', 'tools', 'log', 'cost'].map((tab) => `?step=step-1&tab=${tab}`),
  ].map((query) => `/ui/runs/r1${query}`),
];

test.each(PAGES)('%s stays below 200 KB', async (page) => {
  const { get } = await pagesWith(WORLD);
  const { statusCode, body } = await get(page);
  expect(statusCode).toBe(200);
  expect(Buffer.byteLength(body)).toBeLessThan(MOST_BYTES);
});

test('answers of many values leave the page to mark them below 200 KB', async () => {
  const output = { pods: many(600, (at) => at) };
  const { get } = await pagesWith({ unmarked: { steps: many(20, () => unmarkedLine({ output })), more: true } });
  const { body } = await get('/ui/marking');
  expect(body).toContain('more not shown here; the API has them all');
  expect(Buffer.byteLength(body)).toBeLessThan(MOST_BYTES);
});

/** As many entries and branches as a definition may have. */
const group = (at: number) => ({
  name: `a-group-of-branches-with-a-long-name-${at}`,
  parallel: {
    join: 'all_must_pass',
    steps: many(16, (n) => ({
      name: `a-branch-with-quite-a-long-name-${at}-${n}`,
      executor: 'gateway',
      agent: 'first-line-triage',
      prompt_template: text(100),
      weight: 2,
    })),
  },
});
const wide = { ...entry('wide', { text: yaml(262_144) }), config: { steps: many(64, group) } };
const rowsOf = ({ name, parallel }: ReturnType<typeof group>, at: number) => [
  stepDetail({ id: `g${at}`, step_name: name, step_index: at, kind: 'parallel' }),
  ...parallel.steps.map((branch) =>
    stepDetail({ id: branch.name, step_name: branch.name, step_index: at, kind: 'branch', raw_response: null }),
  ),
];
const items = many(200, (at) => ({ name: `checkout-eu-west-${at}.shop.svc.cluster.local` }));
const fan = [
  stepDetail({ id: 'f', step_name: 'each', step_index: 64, kind: 'fan_out', raw_response: { items } }),
  ...many(200, (at) => stepDetail({ id: `f${at}`, step_name: `each/${at}`, step_index: 64, kind: 'fan_out_branch' })),
];
const ran = runDetail({ id: 'r1', steps: [...wide.config.steps.flatMap(rowsOf), ...fan] });
const WIDE: Parameters<typeof pagesWith>[0] = {
  details: [ran, { ...ran, id: 'r2' }],
  runDefinition: wide.config,
  log,
  definitions: { pipelines: [wide], steps: [] },
  readiness: readinessReport(
    many(1_088, (at) => readinessStep({ step: `a-branch-with-quite-a-long-name-${at}` } as never)),
  ),
  statistics: statisticsOf({ ended: [], steps: [] }),
};

const WIDE_PAGES = [
  'pipelines',
  'pipelines/wide',
  'pipelines/wide/run',
  'steps',
  'runs/r1',
  'runs/r1?view=log',
  'runs/r1?step=each',
  'runs/r1?step=each/199',
  'runs/r1/compare/r2',
];

test.each(WIDE_PAGES)('%s of a definition with 1,024 branches stays below 200 KB', async (page) => {
  const { get } = await pagesWith(WIDE);
  const { statusCode, body } = await get(`/ui/${page}`);
  expect(statusCode).toBe(200);
  expect(Buffer.byteLength(body)).toBeLessThan(MOST_BYTES);
});

test.each(['insights', 'steps/look'])('%s of 2,000 teams, agents and models stays below 200 KB', async (page) => {
  const name = (at: number) => `${text(80)} ${at}`;
  const ended = many(2_000, (at) => stepSum({ agent: name(at), provider: name(at), model: name(at) }));
  const teams = many(2_000, (at) => runSum({ team: name(at) }));
  const stepIn = async () => ({
    pipelines: ['checkout'],
    pipeline: undefined,
    stats: stepStats('look', 'USD', { ended, running: 0, labels: [], p95: null }),
    models: modelBreakdown({ ended, labels: [] }),
  });
  const { get } = await pagesWith({
    statistics: {
      ...statisticsOf({ ended: teams, steps: ended }),
      stepIn,
    },
    promptVersions: [],
  });
  const { statusCode, body } = await get(`/ui/${page}`);
  expect(statusCode).toBe(200);
  expect(body).toContain(`${count(1_950)} more`);
  expect(Buffer.byteLength(body)).toBeLessThan(MOST_BYTES);
});

const labels = Object.fromEntries(many(64, (at) => [`label_${at}`, text(4_096)]));
const delivery: DeliveryDetail = {
  id: 7,
  received_at: iso(1),
  source: 'alert_router',
  outcome: 'no_pipeline',
  status_code: 422,
  pipeline: null,
  run_id: null,
  summary: text(300),
  severity: 'critical',
  labels,
  fingerprint: 'f:firing',
  detail: text(1_000),
  token_name: 'alertmanager',
  team: 'payments',
  alerts: many(1_000, (at) => ({
    fingerprint: `${at}`.padStart(16, 'f'),
    status: 'firing',
    labels,
    fate: 'no_pipeline',
    run_id: idOf(at),
    reason: text(300),
  })),
  closest: many(5, (at) => ({
    pipeline: `pipeline-${at}`,
    failed_rule: 'labels.service',
    expected: { in: many(500, () => text(100)) },
    actual: text(4_096),
  })),
  raw: { alerts: many(40, () => ({ annotations: many(40, () => text(30)) })) },
  raw_truncated: false,
};

test.each([
  ['deliveries', {}],
  ['deliveries/7', {}],
  ['deliveries/7', { raw: '&<>"\''.repeat(13_000), raw_truncated: true }],
])('%s stays below 200 KB', async (page, change) => {
  const { get } = await pagesWith({
    deliveries: many(50, (id) => ({ ...delivery, id })),
    delivery: { ...delivery, ...change },
  });
  const { statusCode, body } = await get(`/ui/${page}`);
  expect(statusCode).toBe(200);
  expect(Buffer.byteLength(body)).toBeLessThan(MOST_BYTES);
});

const ADMIN = { ...VIEWER, role: 'admin' } as const;

test.each([
  ['a definition', yaml(262_144)],
  ['characters that HTML escapes', `# ${'&<>"\''.repeat(52_000)}`],
])('Validate answers below 200 KB to %s of 256 KB', async (_, text) => {
  const wrong = many(2_000, (at) => ({
    loc: ['steps', at, 'promt_template'],
    msg: 'is no key of a step',
    line: at * 5,
  }));
  const validation = { valid: false, errors: wrong, warnings: wrong } as never;
  const { post } = await pagesWith({ viewer: ADMIN, validation });
  const form = { kind: 'Pipeline', yaml: text, _csrf: ADMIN.csrf };
  const { statusCode, body } = await post('/ui/validate', { ...form, part: 'result' });
  expect(statusCode).toBe(200);
  expect(Buffer.byteLength(body)).toBeLessThan(MOST_BYTES);
  // Without script too: the text does not come back, and nothing can be saved from where it is not.
  const whole = (await post('/ui/validate', form)).body;
  expect(Buffer.byteLength(whole)).toBeLessThan(MOST_BYTES);
  expect(whole).toContain('is judged and not sent back');
  expect(whole).toMatch(/<textarea[^>]*>\s*<\/textarea>/);
});

test('a valid text that does not come back without script is not saved from there', async () => {
  const { post, deps } = await pagesWith({ viewer: ADMIN });
  const form = { kind: 'Pipeline', _csrf: ADMIN.csrf, act: 'validate' };
  const answer = async (text: string, more = {}) => (await post('/ui/validate', { ...form, ...more, yaml: text })).body;
  expect(await answer(yaml(262_144))).not.toContain('value="save"');
  expect(await answer(yaml(262_144), { part: 'result' })).toContain('value="save"');
  const short = await answer(yaml(20_000));
  expect(short).toContain('value="save"');
  expect(short).toContain(escapeExpression(yaml(20_000)));
  expect(deps.changes).toEqual([]);
});

test('a definition with more text than a page has is not opened in the form', async () => {
  const { get } = await pagesWith({ viewer: ADMIN, definitions: { pipelines: [wide] } });
  const { body } = await get('/ui/validate?pipeline=wide');
  expect(body).toContain('wide has more text than this page edits');
  expect(body).not.toContain('prompt_template');
});
