import { afterEach, expect, test, vi } from 'vitest';
import { hang, type Script, sure } from '../../runs/fixtures/engine.ts';
import { type ReplayOptions, type ReplayServer, startReplayServer } from '../../web/fixtures/replays.ts';

let site: ReplayServer;
afterEach(() => site.close());

const CHAIN = `
name: checkout
stage: production
steps:
  - {name: collect, executor: gateway, agent: investigator, prompt_template: 'collect {{summary}}'}
  - name: look
    executor: gateway
    agent: investigator
    prompt_template: 'look at {{steps.collect.summary}}'
    deterministic_checks:
      - {name: probe, type: shell, run: 'exit 0', expect: exit_code == 0}
  - {name: tell, executor: webhook, url: 'http://127.0.0.1:9/tell', timeout_seconds: 5, on_failure: continue}
  - name: plan
    executor: gateway
    agent: investigator
    prompt_template: 'plan for {{steps.look.summary}} after {{steps.tell.status}}'
    when: steps.look.output.go == true
  - name: group
    parallel:
      steps: [{name: last, executor: gateway, agent: investigator, prompt_template: last}]
`;

const answer: Script = ({ input, model }) => ({
  ...sure(0.9),
  summary: `${input}${model ? ` by ${model}` : ''}`,
  go: !input.includes('stop'),
});

const start = async (options: ReplayOptions = {}) => {
  site = await startReplayServer({ pipelines: [CHAIN], agents: { investigator: answer }, ...options });
};
const BODY = { from_step: 'look', to_step: 'plan', candidate: { look: { model: 'm2' } } };
const launch = (body: object = BODY, pipeline = 'checkout') =>
  site.send('POST', `/pipelines/${pipeline}/replay`, { body });
const reported = async (body: object = BODY) => {
  const started = await launch(body);
  expect([started.status, started.text]).toEqual([200, expect.any(String)]);
  expect(started.body).toEqual({ status: 'completed', run_id: expect.any(String) });
  return site.report(started.body.run_id);
};

test('each step of the range is fed by the replayed one before it, steps with effects answer what was recorded', async () => {
  await start();
  const { run, step } = await site.record({ summary: 'a' }, 'correct', 'plan');
  expect(step('tell').status).toBe('failed');
  const asked = site.world.calls.length;
  const report = await reported();
  expect(site.world.calls.slice(asked).map(({ input, model }) => [input, model])).toEqual([
    ['look at collect a', 'm2'],
    ['plan for look at collect a by m2 after failed', undefined],
  ]);
  expect(report).toMatchObject({
    kind: 'chain',
    pipeline_name: 'checkout',
    from_step: 'look',
    to_step: 'plan',
    mode: 'rerender',
    candidate: { look: { model: 'm2' } },
    k: 20,
    status: 'completed',
    source: 'replay',
    unreplayable_count: 0,
  });
  expect(report.steps).toMatchObject([
    { step_name: 'look', replayed: true, executor: 'gateway', checks_not_run: ['probe'], recorded_accuracy: null },
    { step_name: 'tell', replayed: false, executor: 'webhook', checks_not_run: [], candidate_total_n: 0 },
    {
      step_name: 'plan',
      replayed: true,
      recorded_distribution: { correct: 1, partial: 0, incorrect: 0 },
      recorded_accuracy: 1,
      candidate_accuracy_so_far: null,
      candidate_total_n: 1,
    },
  ]);
  const spent = {
    n: 1,
    input_tokens: 10,
    output_tokens: 5,
    cost: null,
    unpriced: 1,
    duration_seconds: expect.any(Number),
  };
  expect(report.steps[2].used).toEqual({ recorded: spent, candidate: spent });
  expect(report.runs).toMatchObject([
    {
      source_run_id: run.id,
      result: 'completed',
      reason: null,
      steps: [
        { step_name: 'look', status: 'completed', sample_step_id: step('look').id, recorded_label: null },
        { step_name: 'plan', status: 'completed', sample_step_id: step('plan').id, recorded_label: 1 },
      ],
    },
  ]);
  expect(report.runs[0].steps[0]).toMatchObject({ deterministic_passed: null, candidate: { step_name: 'look/0' } });
  // A chain has no label of its own.
  expect(Object.keys(report.runs[0]).toSorted()).toEqual(['reason', 'result', 'source_run_id', 'steps']);

  await site.mark(report.run_id, 'plan/0', 'incorrect');
  expect((await site.report(report.run_id)).steps[2]).toMatchObject({
    candidate_accuracy_so_far: 0,
    candidate_graded_n: 1,
    regressed: 1,
  });
  expect((await site.send('GET', '/replays')).body.replays).toMatchObject([{ regressed: 1, unchanged: 0, failed: 0 }]);
  const batch = await site.world.ended(report.run_id);
  expect(batch.run).toMatchObject({ stage: 'testing', source: 'replay' });
  expect((await site.send('GET', `/runs/${report.run_id}`)).body.replay_of).toEqual({
    kind: 'chain',
    ...BODY,
    mode: 'rerender',
    k: 20,
  });
});

test('a step that fails ends its chain: later steps are ungraded and the run is partial', async () => {
  await start();
  await site.record({ summary: 'good' }, 'correct', 'look');
  await site.record({ summary: 'bad' }, 'correct', 'look');
  site.world.agents['investigator'] = (call) =>
    call.input === 'look at collect bad'
      ? { ok: false, type: 'unavailable', message: 'is down', retryable: false }
      : answer(call);
  const report = await reported();
  expect(report.runs).toMatchObject([
    {
      result: 'partial',
      steps: [
        { step_name: 'look', status: 'execution_failed', reason: 'is down' },
        { step_name: 'plan', status: 'pending', candidate: null },
      ],
    },
    { result: 'completed', steps: [{ status: 'completed' }, { status: 'completed' }] },
  ]);
  expect(report.steps[2]).toMatchObject({ candidate_total_n: 1 });
});

test('the condition of a step is judged by what the replay found', async () => {
  await start();
  await site.record({}, 'correct', 'look');
  const report = await reported({ ...BODY, candidate: { look: { prompt_template: 'stop' } } });
  expect(report.runs[0]).toMatchObject({
    result: 'completed',
    steps: [{ status: 'completed' }, { status: 'skipped' }],
  });
});

test('samples are the newest runs that executed the range and have a label in it', async () => {
  await start();
  const first = await site.record({}, 'correct', 'look');
  await site.record({}, 'correct', 'collect');
  await site.record({ summary: 'stop' }, 'correct', 'look');
  const last = await site.record({}, 'partial', 'plan');
  const ids = async (k: number) =>
    ((await reported({ ...BODY, k })).runs as { source_run_id: string }[]).map((run) => run.source_run_id);
  expect(await ids(20)).toEqual([last.run.id, first.run.id]);
  expect(await ids(1)).toEqual([last.run.id]);
});

test('what a range would cost: each step once for each recorded run; no model is asked', async () => {
  await start({ pricing: [{ provider: 'p', model: 'm', inputPerMtok: 100_000, outputPerMtok: 200_000 }] });
  await site.record({}, 'correct', 'look');
  await site.record({}, 'correct', 'plan');
  const asked = site.world.calls.length;
  const estimate = (body: object) => site.send('POST', '/pipelines/checkout/replay/estimate', { body });
  const step = {
    total: 4,
    per_sample: 2,
    mean_input_tokens: 10,
    mean_output_tokens: 5,
    tier: 'manual',
    basis_n: 2,
    reason: 'price of m at p, for the mean of 2 recorded calls',
  };
  expect((await estimate({ ...BODY, candidate: {} })).body).toEqual({
    total: 8,
    sample_count: 2,
    steps: [
      { step_name: 'look', ...step },
      { step_name: 'plan', ...step },
    ],
  });
  const unpriced = await estimate({ ...BODY, candidate: { plan: { model: 'unknown' } } });
  expect(unpriced.body).toMatchObject({ total: null, steps: [{ total: 4 }, { total: null, tier: null }] });
  expect((await estimate({ ...BODY, to_step: 'group' })).status).toBe(422);
  expect(site.world.calls).toHaveLength(asked);
  expect((await site.send('GET', '/runs?source=replay')).body.total).toBe(0);
});

test('the list tells how many recorded runs of a chain were attempted, not how many of their steps', async () => {
  const slow: Script = (call) => (call.model === 'm2' && call.input.includes('2') ? hang(call) : answer(call));
  await start({ agents: { investigator: slow } });
  for (const summary of ['1', '2']) await site.record({ summary }, 'correct', 'look');
  const launched = launch();
  const list = async () => (await site.send('GET', '/replays')).body.replays[0];
  await vi.waitFor(
    async () => expect(await list()).toMatchObject({ status: 'running', attempted: 1, samples: 2 }),
    60_000,
  );
  expect(await list()).toMatchObject({
    kind: 'chain',
    pipeline_name: 'checkout',
    step_name: 'look',
    to_step: 'plan',
    candidates: { look: { model: 'm2' } },
  });
  await site.send('POST', `/runs/${(await list()).run_id}/cancel`);
  expect((await launched).body).toMatchObject({ status: 'cancelled' });
  const report = await site.report((await list()).run_id);
  expect(report.runs.map(({ result }: { result: string }) => result)).toEqual(['partial', 'completed']);
});

test('a recorded run that is gone is unreplayable with its reason', async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<undefined>();
  const slow: Script = async (call) => {
    if (call.model === 'm2') await held;
    return answer(call);
  };
  await start({ agents: { investigator: slow } });
  const oldest = await site.record({}, 'correct', 'look');
  for (const summary of ['2', '3', '4']) await site.record({ summary }, 'correct', 'look');
  const ended = reported();
  await vi.waitFor(() => expect(site.world.calls.filter(({ model }) => model === 'm2')).toHaveLength(3), 60_000);
  await site.world.database.write((tx) => tx.db.deleteFrom('runs').where('id', '=', oldest.run.id).execute());
  letGo(undefined);
  const report = await ended;
  expect(report).toMatchObject({ status: 'completed', unreplayable_count: 1 });
  expect(report.runs.map(({ result, reason }: Record<string, string>) => [result, reason])).toEqual([
    ['completed', null],
    ['completed', null],
    ['completed', null],
    ['unreplayable', 'the recorded run is gone'],
  ]);
});

const FAN_OUT = `
name: checkout
stage: production
steps:
  - {name: collect, executor: gateway, agent: investigator, prompt_template: collect}
  - name: each
    fan_out: {over: steps.collect.output.hosts, as: host, step: {executor: gateway, agent: investigator, prompt_template: look}}
`;

test('422: a fan-out in the range', async () => {
  await start({ pipelines: [FAN_OUT], agents: { investigator: () => sure(0.9, { hosts: ['a'] }) } });
  await site.record({}, 'correct', 'collect');
  const { status, body } = await launch({ from_step: 'collect', to_step: 'each', candidate: {} });
  expect([status, body.detail.errors]).toEqual([
    422,
    [{ loc: ['body', 'to_step'], msg: 'the range contains the group "each"' }],
  ]);
});

test.each([
  ['an unknown first step', { from_step: 'x' }, ['body', 'from_step']],
  ['an unknown last step', { to_step: 'x' }, ['body', 'to_step']],
  ['a last step before the first', { from_step: 'plan', to_step: 'look' }, ['body', 'to_step']],
  ['a group in the range', { to_step: 'group' }, ['body', 'to_step']],
  ['a range without an agent', { from_step: 'tell', to_step: 'tell', candidate: {} }, ['body', 'from_step']],
  ['a candidate of a step outside', { candidate: { collect: {} } }, ['body', 'candidate', 'collect']],
  ['a candidate of a step with effects', { candidate: { tell: {} } }, ['body', 'candidate', 'tell']],
  ['the mode rendered', { mode: 'rendered' }, ['body', 'mode']],
  ['k of 101', { k: 101 }, ['body', 'k']],
  ['k of 0', { k: 0 }, ['body', 'k']],
  ['k as text', { k: '20' }, ['body', 'k']],
  ['no candidate', { candidate: undefined }, ['body', 'candidate']],
  ['an unknown key', { bucket: 'current' }, ['body', 'bucket']],
  [
    'a template that does not compile',
    { candidate: { look: { prompt_template: '{{#if' } } },
    ['body', 'candidate', 'look', 'prompt_template'],
  ],
])('422: %s', async (_, change, loc) => {
  await start();
  await site.record({}, 'correct', 'look');
  for (const path of ['replay', 'replay/estimate']) {
    const { status, body } = await site.send('POST', `/pipelines/checkout/${path}`, { body: { ...BODY, ...change } });
    expect([status, body.detail.type, body.detail.errors[0].loc]).toEqual([422, 'unprocessable', loc]);
  }
});

test('a range without a change is replayed as it is', async () => {
  await start();
  await site.record({}, 'correct', 'look');
  const report = await reported({ ...BODY, candidate: {} });
  expect(report).toMatchObject({ candidate: {}, runs: [{ result: 'completed' }] });
});

test('an unknown pipeline is 404, no labelled run is 422, an unsafe agent is 403', async () => {
  await start({ replay: { safeAgents: ['gateway:investigator'] } });
  expect((await launch(BODY, 'nothing')).status).toBe(404);
  expect((await launch()).status).toBe(422);
  await site.record({}, 'correct', 'look');
  const unsafe = await launch({ ...BODY, candidate: { plan: { agent: 'other' } } });
  expect([unsafe.status, unsafe.body.detail.message]).toEqual([403, 'not in replay.safe_agents: gateway:other']);
  await site.world.database.write((tx) =>
    tx.db.updateTable('step_executions').set({ agent: 'retired' }).where('step_name', '=', 'look').execute(),
  );
  expect((await launch()).body.detail.message).toBe('not in replay.safe_agents: gateway:retired');
});

test('while replay is off the launch of a range is 403, whatever its body says', async () => {
  await start({ replay: { safeAgents: [] } });
  expect((await launch({}, 'nothing')).status).toBe(403);
});
