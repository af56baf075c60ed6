import { AppError } from '@signalbox/crds';
import { bucketView } from '../../service/views/analytics/calibration.ts';
import { agentVersionView, promptVersionView } from '../../service/views/analytics/versions.ts';
import { expect, test } from 'vitest';
import { agentVersions } from '../../analytics/agent-versions.ts';
import { calibrate } from '../../analytics/calibration.ts';
import { promptVersions } from '../../analytics/prompt-versions.ts';
import { VIEWER } from './fixtures/fake-deps.ts';
import { pagesWith } from './fixtures/pages-with.ts';
import { suspendedSchedule } from './fixtures/schedules.ts';
import { HOSTILE, NOW, runDetail, runLine, stepDetail, trustReport, unmarkedLine } from './fixtures/runs.ts';
import { runSum, statisticsOf, stepSum } from './fixtures/statistics.ts';
import { readinessReport, readinessStep } from './fixtures/readiness.ts';

const OPINION = {
  agent: HOSTILE,
  model: null,
  provider: null,
  score: null,
  summary: null,
  input_tokens: null,
  output_tokens: null,
};

const hostileStep = stepDetail({
  step_name: HOSTILE,
  agent: HOSTILE,
  model: HOSTILE,
  status: 'failed',
  summary: HOSTILE,
  output: { [HOSTILE]: [HOSTILE] },
  checks: [{ name: HOSTILE, type: 'webhook', passed: false, detail: HOSTILE, duration_seconds: 1 }],
  artifacts: [HOSTILE],
  error: { type: HOSTILE, message: HOSTILE },
  trust_report: trustReport({
    sentence: HOSTILE,
    signals: [{ signal: 'verifier', value: 0.5, enforced: false, note: HOSTILE }],
  }),
  raw_response: {
    prompt: HOSTILE,
    prompt_spans: [[0, 20]],
    child_run_id: HOSTILE,
    verifier: { ...OPINION, model: HOSTILE, score: 0.5, summary: HOSTILE },
    grounding: { ...OPINION, error: HOSTILE },
    iterations_before: [{ confidence: 0.1, summary: HOSTILE }],
    trace: [
      {
        type: 'tool_call',
        started_at: 'x',
        duration_ms: 1,
        server: HOSTILE,
        tool: HOSTILE,
        input: { [HOSTILE]: HOSTILE },
        result: HOSTILE,
      },
    ],
  },
  feedback: {
    run_id: 'r1',
    step_name: HOSTILE,
    outcome: 'partial',
    notes: HOSTILE,
    submitted_at: '2026-11-21T11:00:00Z',
    submitted_by: HOSTILE,
  },
});
const line = runLine({
  summary: HOSTILE,
  pipeline_name: HOSTILE,
  severity: HOSTILE,
  team: HOSTILE,
  source: HOSTILE,
  status: 'failed',
});
const HOSTILE_ANSWER = {
  step_name: HOSTILE,
  pipeline_name: HOSTILE,
  run_summary: HOSTILE,
  agent: HOSTILE,
  summary: HOSTILE,
  sentence: HOSTILE,
};
const entry = {
  name: 'hostile',
  file: HOSTILE,
  text: HOSTILE,
  hash: HOSTILE,
  config: {
    description: HOSTILE,
    tags: [HOSTILE],
    trigger: { match: { [HOSTILE]: HOSTILE } },
    steps: [{ name: HOSTILE, executor: HOSTILE, when: HOSTILE }],
  },
};
const hostileRow = {
  id: 7,
  ts: '2026-11-21T11:59:00.000Z',
  actor: HOSTILE,
  actor_kind: 'chat' as const,
  role: HOSTILE,
  action: HOSTILE,
  target_type: 'pipeline',
  target: HOSTILE,
  run_id: HOSTILE,
  outcome: HOSTILE,
  prior_yaml: HOSTILE,
  request_id: HOSTILE,
};
const HOSTILE_API = {
  paths: {
    [`/${HOSTILE}`]: {
      post: {
        tags: [HOSTILE],
        summary: HOSTILE,
        'x-role': HOSTILE,
        parameters: [{ name: HOSTILE, in: 'query', required: true, schema: { type: HOSTILE } }],
        requestBody: { content: { [HOSTILE]: { schema: { $ref: HOSTILE }, example: HOSTILE } } },
        responses: { 200: { description: HOSTILE, content: { [HOSTILE]: { schema: {}, example: HOSTILE } } } },
      },
    },
  },
  components: { schemas: { [HOSTILE]: { title: HOSTILE, properties: { [HOSTILE]: { enum: [HOSTILE] } } } } },
};
const hostileReadiness = readinessReport(
  [
    readinessStep({
      step_name: HOSTILE,
      executor: HOSTILE,
      verdict: 'not_ready',
      narrative: [HOSTILE],
      notes: [HOSTILE],
      tiers: {
        accuracy: { verdict: 'not_ready', reason: HOSTILE, marked: 1, min_marked: 1, accuracy: 0 },
      },
    }),
  ],
  { verdict: 'not_ready' },
);
const HOSTILE_KEY = {
  agent: HOSTILE,
  provider: HOSTILE,
  model: HOSTILE,
  promptHash: HOSTILE,
  agentVersion: HOSTILE,
};
const hostileEdition = <T extends object>(texts: T) => ({
  promptHash: '',
  template: null,
  ...texts,
  firstSeenAt: NOW - ('template' in texts && texts.template === HOSTILE ? 0 : 1),
  lastSeenAt: NOW,
  runsTotal: 1,
  labelledN: 1,
});
const HOSTILE_WORLD = {
  viewer: { ...VIEWER, name: HOSTILE },
  unmarked: { steps: [unmarkedLine({ ...HOSTILE_ANSWER, output: { [HOSTILE]: HOSTILE } })], more: false },
  lines: [line],
  details: [
    runDetail({
      ...line,
      steps: [hostileStep],
      rerun_of: HOSTILE,
      children: [runLine({ ...line, id: HOSTILE })],
      reruns: [runLine({ ...line, id: HOSTILE })],
      error: { step: HOSTILE, message: HOSTILE },
      context: { [HOSTILE]: HOSTILE },
    }),
  ],
  log: [{ ts: HOSTILE, level: 'warn', event: HOSTILE, msg: HOSTILE, step_name: HOSTILE }],
  definitions: {
    pipelines: [entry],
    steps: [entry],
    loadedAt: NOW,
    problems: [{ severity: 'error' as const, kind: null, name: HOSTILE, file: HOSTILE, loc: [HOSTILE], msg: HOSTILE }],
  },
  agents: { agents: [{ name: HOSTILE, executor: HOSTILE, model: HOSTILE }], errors: { [HOSTILE]: HOSTILE } },
  buckets: calibrate([{ ...HOSTILE_KEY, confidence: 0.9, label: 0, n: 30 }], { nMin: 20, binWidth: 0.1 }).map(
    bucketView,
  ),
  promptVersions: promptVersions(
    [hostileEdition({ promptHash: HOSTILE, template: HOSTILE }), hostileEdition({ promptHash: 'old', template: 'x' })],
    [],
  ).map(promptVersionView),
  agentVersions: agentVersions([
    {
      ...hostileEdition({}),
      agentVersion: HOSTILE,
      soulMd: HOSTILE,
      agentYaml: HOSTILE,
      note: HOSTILE,
      usedBySteps: [HOSTILE],
    },
    { ...hostileEdition({}), agentVersion: 'old', soulMd: 'x', agentYaml: 'x', note: HOSTILE, usedBySteps: [] },
  ]).map(agentVersionView),
  runDefinition: { steps: [{ name: HOSTILE }] },
  schedules: [suspendedSchedule(HOSTILE)],
  audit: [hostileRow],
  apiDescription: HOSTILE_API,
  syncedObjects: [
    {
      kind: 'Pipeline' as const,
      namespace: HOSTILE,
      name: HOSTILE,
      definition: 'hostile',
      hash: HOSTILE,
      conditions: [
        { type: HOSTILE, status: 'False' as const, reason: HOSTILE, message: HOSTILE, lastTransitionTime: HOSTILE },
      ],
      replicas: [{ pod: HOSTILE, hash: HOSTILE }],
    },
  ],
  statistics: statisticsOf(
    { ended: [runSum({ pipeline: HOSTILE, team: HOSTILE })], steps: [stepSum({ pipeline: HOSTILE, team: HOSTILE })] },
    { ended: [stepSum({ agent: HOSTILE, provider: HOSTILE, model: HOSTILE })] },
  ),
  gatewayObjects: { kind: 'unreachable' as const, message: HOSTILE },
  readiness: hostileReadiness,
  tried: {
    ...hostileReadiness,
    applied_to: [HOSTILE],
    scope: 'step' as const,
    yaml_snippet: HOSTILE,
    yaml_snippet_indented: HOSTILE,
    yaml_target_hint: HOSTILE,
    evidence_gathered_at: '2026-11-21T12:00:00.000Z',
    evidence_cache_hit: false,
  },
  verdicts: { hostile: { verdict: 'building' as const, reason: HOSTILE } },
  gatewayTools: {
    kind: 'found' as const,
    servers: [
      {
        name: HOSTILE,
        transport: HOSTILE,
        state: HOSTILE,
        tool_count: 1,
        restart_count: 2,
        started_at: HOSTILE,
        last_error: HOSTILE,
      },
    ],
    tools: [{ server: HOSTILE, name: HOSTILE, description: HOSTILE, input_schema: { [HOSTILE]: HOSTILE } }],
    policy: {
      default: HOSTILE,
      rules: [{ action: HOSTILE, server: HOSTILE, tool: null, agent: HOSTILE, input_regex: HOSTILE, reason: HOSTILE }],
    },
  },
};

const RUN = `/ui/runs/${line.id}`;
const HOSTILE_QUERY = encodeURIComponent(HOSTILE).replaceAll("'", '%27');
const EVERY_PAGE = [
  '/ui/',
  '/ui/runs',
  `/ui/runs?q=${HOSTILE_QUERY}&team=${HOSTILE_QUERY}&status=${HOSTILE_QUERY}`,
  ...['evidence', 'prompt', 'output', 'tools', 'log', 'cost'].map((tab) => `${RUN}?tab=${tab}`),
  '/ui/pipelines',
  '/ui/pipelines/hostile',
  `/ui/pipelines/hostile?whatif=1&accuracy=on&accuracy.min_marked=${HOSTILE_QUERY}&apply_to=${HOSTILE_QUERY}`,
  '/ui/steps',
  '/ui/steps/hostile',
  '/ui/steps/only-in-the-past',
  '/ui/agents',
  '/ui/agents/hostile',
  '/ui/schedules',
  '/ui/insights',
  `/ui/insights?time_range=${HOSTILE_QUERY}&stage=${HOSTILE_QUERY}`,
  '/ui/tools',
  `${RUN}?view=log`,
  '/ui/docs',
  `/ui/docs/${encodeURIComponent(HOSTILE)}`,
  '/ui/audit',
  '/ui/audit?open=7',
  '/ui/marking',
  `/ui/marking?pipeline=${HOSTILE_QUERY}&step=${HOSTILE_QUERY}`,
];

test.each(EVERY_PAGE)('%s writes hostile texts as text, and has no inline script or style', async (url) => {
  const { get } = await pagesWith(HOSTILE_WORLD);
  const { statusCode, body, headers } = await get(url);
  expect(statusCode).toBe(200);
  expect(body).not.toMatch(/<img|onerror="|<script>|\sstyle=|<style/);
  expect(body.match(/<script/g)).toHaveLength(1);
  expect(headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(headers['content-security-policy']).not.toContain('unsafe');
});

test.each(EVERY_PAGE)('%s asks for a session first and returns there', async (url) => {
  const { get } = await pagesWith({ ...HOSTILE_WORLD, viewer: null });
  const answer = await get(url);
  expect(answer.statusCode).toBe(303);
  expect(new URL(answer.headers.location!, 'http://x').searchParams.get('next')).toBe(url);
});

test('a wrong token says so, the right one goes to the page asked for', async () => {
  const { post } = await pagesWith({ viewer: null });
  const wrong = await post('/ui/login', { token: 'nope', next: '/ui/runs' });
  expect([wrong.statusCode, wrong.body.includes('Invalid token')]).toEqual([401, true]);
  expect(wrong.body).not.toContain('nope');
  const right = await post('/ui/login', { token: 'right', next: '/ui/runs' });
  expect([right.statusCode, right.headers.location]).toEqual([303, '/ui/runs']);
  expect((await post('/ui/login', { token: 'right', next: 'https://evil.example' })).headers.location).toBe('/ui/');
});

test('only a running run of an operator can be cancelled from its page', async () => {
  const running = runDetail({ status: 'running', completed_at: null });
  const cancel = `action="/ui/runs/${running.id}/cancel"`;
  expect((await (await pagesWith({ details: [running] })).get(`/ui/runs/${running.id}`)).body).toContain(cancel);
  expect((await (await pagesWith({ details: [runDetail()] })).get(`/ui/runs/${running.id}`)).body).not.toContain(
    cancel,
  );
  const viewer = { ...VIEWER, role: 'viewer' as const };
  const { get, post, deps } = await pagesWith({ details: [running], viewer });
  expect((await get(`/ui/runs/${running.id}`)).body).not.toContain(cancel);
  await post(`/ui/runs/${running.id}/cancel`, { _csrf: VIEWER.csrf });
  expect(deps.cancelled).toEqual([]);
});

test('an operator runs a run again, from the start or from a step, and goes to the new run', async () => {
  const { post, deps, get } = await pagesWith({ details: [runDetail()] });
  const url = `/ui/runs/${runDetail().id}/rerun`;
  expect((await get(`/ui/runs/${runDetail().id}`)).body.match(new RegExp(`action="${url}"`, 'g'))).toHaveLength(2);
  const answer = await post(url, { _csrf: VIEWER.csrf, from_step: 'triage' });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, '/ui/runs/the-new-run']);
  await post(url, { _csrf: VIEWER.csrf });
  expect(deps.reruns).toMatchObject([{ fromStep: 'triage', actor: { name: VIEWER.name } }, { fromStep: null }]);
});

test.each([
  ['conflict', 409, 'the run has not ended; cancel it first', 'The run has not ended; cancel it first.'],
  ['at_capacity', 429, 'all 5 slots are taken', 'All 5 slots are taken.'],
  ['validation', 400, 'the pipeline has no step "a" any more', 'no step &quot;a&quot; any more'],
] as const)('a rerun that is refused (%s) says why and leads back', async (type, status, message, text) => {
  const { post } = await pagesWith({ details: [runDetail()], noRerun: new AppError(type, message) });
  const { statusCode, body } = await post(`/ui/runs/${runDetail().id}/rerun`, { _csrf: VIEWER.csrf });
  expect([statusCode, body.includes(text), body.includes('Back to the run')]).toEqual([status, true, true]);
});

test.each([
  ['without the CSRF token', {}, VIEWER],
  ['by a viewer', { _csrf: VIEWER.csrf }, { ...VIEWER, role: 'viewer' as const }],
])('a rerun %s starts nothing', async (_name, form, viewer) => {
  const { post, deps, get } = await pagesWith({ details: [runDetail()], viewer });
  expect([(await post(`/ui/runs/${runDetail().id}/rerun`, form)).statusCode, deps.reruns]).toEqual([403, []]);
  if (viewer.role === 'viewer') expect((await get(`/ui/runs/${runDetail().id}`)).body).not.toContain('/rerun"');
});

test('an artifact is a download of text, whatever an agent wrote and however it is called', async () => {
  const { id } = runDetail();
  const name = '../x";\r\n<b>.html';
  const artifacts = { [`${id} triage ${name}`]: '<script>alert(1)</script>' };
  const { get } = await pagesWith({ details: [runDetail()], artifacts });
  const { statusCode, headers, body } = await get(
    `/ui/runs/${id}/artifacts?${new URLSearchParams({ step: 'triage', name })}`,
  );
  expect([statusCode, body]).toEqual([200, '<script>alert(1)</script>']);
  expect(headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': 'attachment; filename=".._x_b_.html.txt"',
    'x-content-type-options': 'nosniff',
  });
  for (const query of ['', '?step=triage&name=other', '?step=a&step=b&name=c'])
    expect((await get(`/ui/runs/${id}/artifacts${query}`)).statusCode).toBe(404);
  expect((await get(`/ui/runs/unknown/artifacts?step=triage&name=x`)).statusCode).toBe(404);
});

test('the log of the whole run names level and step of every line', async () => {
  const log = [
    { ts: '2026-11-21T11:59:00.000Z', level: 'info', event: 'run_started', msg: 'begun' },
    { ts: '2026-11-21T11:59:01.000Z', level: 'warn', event: 'retry', msg: 'again', step_name: 'triage' },
  ];
  const { get } = await pagesWith({ details: [runDetail()], log });
  for (const query of ['?tab=log', '?step=triage&view=log']) {
    const { body } = await get(`/ui/runs/${runDetail().id}${query}`);
    expect(body).toMatch(
      /11:59:01<\/time>\s*<span class="log-level">warn<\/span>\s*<span class="log-step"><a [^>]*>triage/,
    );
    expect(body).toContain('run_started');
  }
});

test('a rerun tells what it repeats, a sub-run is linked both ways', async () => {
  const child = runLine({ id: 'the-child', pipeline_name: 'host-load' });
  const steps = [
    stepDetail({ status: 'skipped', raw_response: { loaded: { step_id: 'x', status: 'completed' } } }),
    stepDetail({ step_name: 'inspect', executor: 'pipeline', step_index: 1, raw_response: { child_run_id: child.id } }),
  ];
  const run = runDetail({ rerun_of: 'the-original', parent_run_id: 'the-parent', children: [child], steps });
  const { body } = await (await pagesWith({ details: [run] })).get(`/ui/runs/${run.id}?step=inspect`);
  for (const part of [
    '/ui/runs/the-original',
    '1 result taken over',
    'Taken over',
    '/ui/runs/the-parent',
    'started by inspect',
  ])
    expect(body).toContain(part);
  expect(body.match(/href="\/ui\/runs\/the-child"/g)).toHaveLength(2);
});

test('a run names the runs that repeat it, and a rerun the run it repeats', async () => {
  const details = [
    runDetail({ id: 'the-original', reruns: [runLine({ id: 'the-second-run', status: 'failed' })] }),
    runDetail({ id: 'the-second-run', rerun_of: 'the-original' }),
  ];
  const { get } = await pagesWith({ details });
  const { body } = await get('/ui/runs/the-original');
  expect(body).toContain('id="reruns"');
  expect(body).toContain('href="/ui/runs/the-second-run"');
  const again = (await get('/ui/runs/the-second-run')).body;
  expect(again).toContain('href="/ui/runs/the-original"');
  expect(again).not.toContain('id="reruns"');
});

test('no schedule shows how to write one, no gateway says what to do', async () => {
  const { get } = await pagesWith({ gatewayTools: { kind: 'unreachable', message: 'Nothing listens.' } });
  expect((await get('/ui/schedules')).body).toContain('cron: &quot;0 6 * * 1-5&quot;');
  const { body } = await get('/ui/tools');
  expect([body.includes('The gateway does not answer'), body.includes('Nothing listens.')]).toEqual([true, true]);
  expect((await (await pagesWith()).get('/ui/tools')).body).toContain('executors.gateway.rest_url');
});

test('the page of a service that no controller manages says what that is, one that has no objects how to make one', async () => {
  expect((await (await pagesWith()).get('/ui/sync')).body).toContain('Not managed by a controller');
  const { body } = await (await pagesWith({ syncedObjects: [] })).get('/ui/sync');
  expect([body.includes('No object is there yet'), body.includes('kubectl apply -f -')]).toEqual([true, true]);
});

test.each([
  '/ui/nothing',
  '/ui/runs/unknown',
  '/ui/pipelines/unknown',
  '/ui/steps/unknown',
  '/ui/steps/a%2Fb',
  '/ui/agents/unknown',
  '/ui/agents/%3Cb%3E',
  '/ui/runs/a/b',
])('%s is a page that says where to go', async (url) => {
  const { statusCode, body } = await (await pagesWith()).get(url);
  expect([statusCode, body.includes('class="problem"')]).toEqual([404, true]);
});

test('a page for which too much is asked for at once says so, and is no failure of the service', async () => {
  const { app, deps } = await pagesWith();
  deps.runs.list = async () => {
    throw new AppError('unavailable', 'too many statistics are asked for at once; try again');
  };
  const { statusCode, body } = await app.inject({ url: '/ui/' });
  expect([
    statusCode,
    body.includes('Too many statistics are asked for at once'),
    body.includes('This page failed'),
  ]).toEqual([503, true, false]);
});

test('a page that cannot be built says so without details', async () => {
  const { app, deps } = await pagesWith();
  deps.runs.list = async () => {
    throw new Error('secret of the database');
  };
  const { statusCode, body } = await app.inject({ url: '/ui/runs' });
  expect([statusCode, body.includes('request id'), body.includes('secret')]).toEqual([500, true, false]);
});

test.each([
  ['127.0.0.1', 'https://signalbox.example/webhook'],
  ['10.9.9.9', 'http://pod:8000/webhook'],
])(
  'the first command, asked for through %s, has the address that this proxy is believed about',
  async (from, address) => {
    const { app } = await pagesWith({}, { trustProxy: ['127.0.0.1'] });
    const headers = { host: 'pod:8000', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'signalbox.example' };
    const { body } = await app.inject({ url: '/ui/runs', remoteAddress: from, headers });
    expect(body).toContain(`curl -X POST &#x27;${address}`);
  },
);

test('the light question tells how many runs are newer', async () => {
  const { get } = await pagesWith({
    lines: [runLine({ id: 'new', triggered_at: '2026-11-21T11:59:00.000Z' }), runLine({ id: 'seen' })],
  });
  expect((await get('/ui/runs/news?after=2026-11-21T11:55:00.000Z&seen=seen')).json()).toEqual({ new: 1, more: false });
  expect((await get('/ui/runs/news?after=soon')).statusCode).toBe(400);
});

test('the theme is kept in a cookie and written into the page', async () => {
  const { app, post } = await pagesWith();
  const answer = await post('/ui/theme', { _csrf: VIEWER.csrf, theme: 'dark', next: '/ui/runs' });
  expect(String(answer.headers['set-cookie'])).toBe(
    'signalbox_theme=dark; Max-Age=31536000; Path=/ui; HttpOnly; SameSite=Lax',
  );
  const page = await app.inject({ url: '/ui/runs', headers: { cookie: 'a=b; signalbox_theme=dark' } });
  expect(page.body).toContain('data-theme="dark"');
});
