import { afterEach, expect, test } from 'vitest';
import { sure } from '../../runs/fixtures/engine.ts';
import { type ReplayOptions, type ReplayServer, startReplayServer } from '../../web/fixtures/replays.ts';

let site: ReplayServer;
afterEach(() => site.close());

const start = async (options: ReplayOptions = {}) => {
  site = await startReplayServer({ agents: { investigator: () => sure(0.9) }, ...options });
};
const BODY = { bucket: 'current', candidate: { model: 'm2' }, mode: 'rerender' };
const launch = (body: unknown, step = 'look', headers: Record<string, string> = {}) =>
  site.send('POST', `/steps/${step}/replay`, { body, headers });
const runs = async () => (await site.send('GET', '/runs?source=replay')).body.total as number;

test.each([
  ['without a replay block', { safeAgents: [] }, BODY, 'replay is off'],
  ['the recorded agent is not safe', { safeAgents: ['gateway:other'] }, BODY, 'gateway:investigator'],
  [
    'the agent is safe with another executor only',
    { safeAgents: ['external:investigator'] },
    BODY,
    'gateway:investigator',
  ],
  [
    "the candidate's agent is not safe",
    { safeAgents: ['gateway:investigator'] },
    { ...BODY, candidate: { agent: 'other' } },
    'gateway:other',
  ],
  [
    'the judge is not safe',
    {
      safeAgents: ['gateway:investigator'],
      judge: { executor: 'gateway' as const, agent: 'replay-judge', timeoutSeconds: 1, maxOutputChars: 10 },
    },
    BODY,
    'gateway:replay-judge',
  ],
])('403 before anything runs: %s', async (_, replay, body, named) => {
  await start({ replay });
  await site.record();
  const asked = site.world.calls.length;
  for (const path of ['replay', 'replay/estimate']) {
    const answer = await site.send('POST', `/steps/look/${path}`, { body });
    expect(answer.status).toBe(403);
    expect(answer.body.detail).toMatchObject({ type: 'forbidden', message: expect.stringContaining(named) });
  }
  expect(site.world.calls).toHaveLength(asked);
  expect(await runs()).toBe(0);
});

test('while replay is off every request is 403, also for an unknown step and for a body that is none', async () => {
  await start({ replay: { safeAgents: [] } });
  expect((await launch(BODY, 'nothing')).status).toBe(403);
  expect((await launch({ k: 'x' })).status).toBe(403);
});

test.each([
  ['no body', undefined, ['body']],
  ['no bucket', { candidate: {}, mode: 'rendered' }, ['body', 'bucket']],
  ['no candidate', { bucket: 'current', mode: 'rendered' }, ['body', 'candidate']],
  ['no mode', { bucket: 'current', candidate: {} }, ['body', 'mode']],
  ['a mode of its own', { ...BODY, mode: 'again' }, ['body', 'mode']],
  ['another word for the bucket', { ...BODY, bucket: 'newest' }, ['body', 'bucket']],
  ['half a bucket', { ...BODY, bucket: { agent: 'investigator' } }, ['body', 'bucket']],
  ['k of 0', { ...BODY, k: 0 }, ['body', 'k']],
  ['k of 101', { ...BODY, k: 101 }, ['body', 'k']],
  ['k below 0', { ...BODY, k: -1 }, ['body', 'k']],
  ['no k in words', { ...BODY, k: null }, ['body', 'k']],
  ['k as text', { ...BODY, k: '20' }, ['body', 'k']],
  ['half a k', { ...BODY, k: 1.5 }, ['body', 'k']],
  ['an unknown key', { ...BODY, when: 'now' }, ['body', 'when']],
  ['an unknown change', { ...BODY, candidate: { temperature: 1 } }, ['body', 'candidate', 'temperature']],
  ['an empty model', { ...BODY, candidate: { model: '' } }, ['body', 'candidate', 'model']],
  ['a name that no agent has', { ...BODY, candidate: { agent: '../x' } }, ['body', 'candidate', 'agent']],
  [
    'a template that does not compile',
    { ...BODY, candidate: { prompt_template: 'look at {{summary' } },
    ['body', 'candidate', 'prompt_template'],
  ],
  [
    'another template with the recorded prompt',
    { ...BODY, mode: 'rendered', candidate: { prompt_template: 'other' } },
    ['body', 'mode'],
  ],
])('422 with the place of the problem: %s', async (_, body, loc) => {
  await start();
  await site.record();
  for (const path of ['replay', 'replay/start', 'replay/estimate']) {
    const answer = await site.send('POST', `/steps/look/${path}`, { body });
    expect([path, answer.status]).toEqual([path, 422]);
    expect(answer.body.detail).toMatchObject({
      type: 'unprocessable',
      message: expect.any(String),
      errors: [{ loc, msg: expect.any(String) }],
    });
  }
  expect(await runs()).toBe(0);
});

test('the recorded template may be named again with the recorded prompt', async () => {
  await start();
  const { pipeline } = { pipeline: site.world.pipelines.get('checkout') };
  const [step] = pipeline?.config.steps ?? [];
  const { prompt_template } = step as { prompt_template: string };
  await site.record();
  expect((await launch({ ...BODY, mode: 'rendered', candidate: { prompt_template } })).status).toBe(200);
});

test('a candidate without a change measures how far the same configuration agrees with itself', async () => {
  await start();
  await site.record();
  expect((await launch({ ...BODY, candidate: {}, mode: 'rendered' })).status).toBe(200);
  expect((await launch({ ...BODY, candidate: { model: null, agent: null, prompt_template: null } })).status).toBe(200);
});

const BUCKET = { agent: 'investigator', model: 'm', provider: 'p', prompt_hash: 'x', agent_version: 'v1' };

test('an unknown step is 404, a step without executions or labels and a bucket of another step are 422', async () => {
  await start();
  for (const path of ['replay', 'replay/start', 'replay/estimate']) {
    const unknown = await site.send('POST', `/steps/nothing/${path}`, { body: BODY });
    expect([unknown.status, unknown.body.detail.type]).toEqual([404, 'not_found']);
  }
  const never = await launch(BODY);
  expect([never.status, never.body.detail.message]).toEqual([
    422,
    expect.stringContaining('no execution in production'),
  ]);
  await site.record({}, null);
  const unmarked = await launch(BODY);
  expect([unmarked.status, unmarked.body.detail.message]).toEqual([
    422,
    expect.stringContaining('no labelled execution'),
  ]);
  const other = await launch({ ...BODY, bucket: BUCKET });
  expect([other.status, other.body.detail.errors[0].loc]).toEqual([422, ['body', 'bucket']]);
  expect(await runs()).toBe(0);
});

const TWO_STEPS = `
name: checkout
stage: production
steps:
  - {name: look, executor: gateway, agent: investigator, prompt_template: look}
  - {name: plan, executor: gateway, agent: investigator, prompt_template: plan}
`;

test('a bucket of another step is 422', async () => {
  await start({ pipelines: [TWO_STEPS] });
  const { step } = await site.record();
  const { provider, promptHash, agentVersion } = step('plan');
  const bucket = { ...BUCKET, provider, prompt_hash: promptHash, agent_version: agentVersion };
  for (const path of ['replay', 'replay/start', 'replay/estimate']) {
    const answer = await site.send('POST', `/steps/look/${path}`, { body: { ...BODY, bucket } });
    expect([answer.status, answer.body.detail.type, answer.body.detail.errors[0].loc]).toEqual([
      422,
      'unprocessable',
      ['body', 'bucket'],
    ]);
  }
  expect(await runs()).toBe(0);
});

test('an explicit bucket', async () => {
  await start();
  const { step } = await site.record();
  const bucket = { ...BUCKET, prompt_hash: step('look').promptHash };
  const answer = await launch({ ...BODY, bucket });
  expect((await site.report(answer.body.run_id)).source_bucket).toEqual(bucket);
});

test('two launches with one Idempotency-Key are one batch; another body under it is 409', async () => {
  await start();
  await site.record();
  const key = { 'idempotency-key': 'k-1' };
  const both = await Promise.all([launch(BODY, 'look', key), launch(BODY, 'look', key)]);
  const [first, second] = both.map(({ body }) => body as { run_id: string });
  expect(first).toEqual(second);
  expect((await launch(BODY, 'look', key)).body).toEqual(first);
  expect(await runs()).toBe(1);
  const other = await launch({ ...BODY, k: 3 }, 'look', key);
  expect([other.status, other.body.detail.type]).toEqual([409, 'conflict']);
  expect((await launch(BODY, 'look', { 'idempotency-key': 'x'.repeat(201) })).status).toBe(422);
  expect((await launch(BODY)).body.run_id).not.toBe(first?.run_id);
});

test('a report of something else is 404', async () => {
  await start();
  const { run } = await site.record();
  for (const id of [run.id, '00000000-0000-4000-8000-000000000000', 'x']) {
    const answer = await site.send('GET', `/replays/${id}/report`);
    expect([answer.status, answer.body.detail.type]).toEqual([404, 'not_found']);
  }
});

test('a launch is in the audit log', async () => {
  await start();
  await site.record();
  const { body } = await launch(BODY);
  const audit = await site.send('GET', '/audit?action=replay');
  expect(audit.body.rows).toMatchObject([
    { actor: 'the-operator', target_type: 'step', target: 'look', run_id: body.run_id },
  ]);
});

test('an alert that calls its source replay is an alert', async () => {
  await start();
  expect((await site.world.run('checkout', { source: 'replay' })).step('look').status).toBe('completed');
});

test('a batch is not rerun: its pipeline would run for real', async () => {
  await start();
  await site.record();
  const { body } = await launch(BODY);
  const total = async () => (await site.send('GET', '/runs')).body.total as number;
  const before = await total();
  const answer = await site.send('POST', `/runs/${body.run_id}/rerun`, { body: {} });
  expect([answer.status, answer.body.detail]).toEqual([
    409,
    { type: 'conflict', message: 'the run is a replay; launch another replay instead' },
  ]);
  expect(await total()).toBe(before);
});
