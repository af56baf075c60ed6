import { afterEach, expect, test, vi } from 'vitest';
import { hang, type Script, sure } from '../../runs/fixtures/engine.ts';
import { LOOK, type ReplayOptions, type ReplayServer, startReplayServer } from '../../web/fixtures/replays.ts';

let site: ReplayServer;
afterEach(() => site.close());

const start = async (options: ReplayOptions = {}) => {
  site = await startReplayServer({ agents: { investigator: () => sure(0.9) }, ...options });
};
const begin = async () => {
  const samples: string[] = [];
  for (const run of await Promise.all([1, 2, 3, 4, 5].map(() => site.record()))) samples.push(run.step('look').id);
  return (model: string) =>
    site.replays.start({
      stepName: 'look',
      samples: samples.map((stepId) => ({ stepId })),
      candidate: { model },
      mode: 'rerender',
      source: 'replay',
      base: 'recorded',
    });
};
const candidates = () => site.world.calls.filter(({ model }) => model === 'm2');

test('a batch shows its progress, and a cancelled one keeps what it has', async () => {
  const slow: Script = (call) => (call.model === 'm2' && candidates().length > 1 ? hang(call) : sure(0.9));
  await start({ agents: { investigator: slow } });
  const runId = await (await begin())('m2');
  await vi.waitFor(async () => {
    const rows = (await site.report(runId)).rows as { status: string }[];
    expect(rows.map(({ status }) => status).toSorted()).toEqual([
      'completed',
      'pending',
      'running',
      'running',
      'running',
    ]);
  }, 60_000);
  expect(await site.report(runId)).toMatchObject({ status: 'running', completed_at: null });
  const log = await site.world.hub.history(runId, 0);
  expect(log.map(({ event }) => event)).toContain('branch_completed');
  expect((await site.send('POST', `/runs/${runId}/cancel`)).status).toBe(202);
  expect(await site.replays.settled(runId, AbortSignal.timeout(60_000))).toBe('cancelled');
  const report = await site.report(runId);
  expect(report.status).toBe('cancelled');
  expect((report.rows as { status: string }[]).map(({ status }) => status).toSorted()).toEqual([
    'cancelled',
    'cancelled',
    'cancelled',
    'completed',
    'pending',
  ]);
});

test('a batch asks no agent that the operator took off the list after its launch', async () => {
  await start({ safeAgents: [] });
  const runId = await (await begin())('m2');
  await site.replays.settled(runId, AbortSignal.timeout(60_000));
  expect(candidates()).toHaveLength(0);
  const rows = (await site.report(runId)).rows as { status: string }[];
  expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['execution_failed']));
});

test('a launch over a connection waits for its batch, and a client that leaves does not stop it', async () => {
  let held = true;
  const slow: Script = async ({ model }) => {
    if (model === 'm2') await vi.waitFor(() => expect(held).toBe(false), 60_000);
    return sure(0.9);
  };
  await start({ agents: { investigator: slow } });
  await site.record();
  const url = await site.listen();
  const post = (path: string, signal?: AbortSignal) =>
    fetch(`${url}/steps/look/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer operator-secret', 'content-type': 'application/json', 'idempotency-key': 'k' },
      body: JSON.stringify({ bucket: 'current', candidate: { model: 'm2' }, mode: 'rerender' }),
      signal,
    });
  expect((await post('replay/estimate')).status).toBe(200);
  const leaving = new AbortController();
  const left = post('replay', leaving.signal);
  await vi.waitFor(() => expect(candidates()).toHaveLength(1), 60_000);
  leaving.abort();
  await expect(left).rejects.toThrow('aborted');
  const again = post('replay');
  held = false;
  const answer = await again;
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'completed', run_id: expect.any(String) }]);
  expect(candidates()).toHaveLength(1);
});

test('a launch whose client leaves goes on', async () => {
  await start({ agents: { investigator: () => sure(0.9) } });
  const runId = await (await begin())('m2');
  await expect(site.replays.settled(runId, AbortSignal.abort())).rejects.toMatchObject({ type: 'unavailable' });
  expect(await site.replays.settled(runId, AbortSignal.timeout(60_000))).toBe('completed');
});

test('after a restart a batch goes on: no sample is asked twice, and one in flight under the same key', async () => {
  let stopped = true;
  const slow: Script = (call) => (call.model === 'm2' && stopped && candidates().length > 2 ? hang(call) : sure(0.9));
  await start({ agents: { investigator: slow } });
  const runId = await (await begin())('m2');
  await vi.waitFor(() => expect(candidates()).toHaveLength(5), 60_000);
  await site.world.restart();
  stopped = false;
  const before = candidates().map(({ idempotencyKey, input }) => [idempotencyKey, input]);
  expect(await site.world.engine.resume()).toBe(1);
  const { steps, events } = await site.world.ended(runId);
  expect(steps.map(({ status }) => status)).toEqual(Array(5).fill('completed'));
  const again = candidates().slice(before.length);
  expect(again).toHaveLength(3);
  for (const { idempotencyKey, input } of again) expect(before).toContainEqual([idempotencyKey, input]);
  expect(events).toContain('run_resumed');
});

const READINESS = '/pipelines/checkout/promotion-readiness';
const SHOWN = [
  '/stats/pipelines?time_range=all',
  '/pipelines/checkout/stats?time_range=all',
  '/steps/look/stats?time_range=all',
  '/steps/look/models?time_range=all',
  '/steps/look/calibration',
  '/steps/look/versions',
  READINESS,
  '/runs?stage=production',
  '/runs?stage=production&status=completed',
  '/teams',
  '/runs?attention=open',
  '/marking',
];
const INSIGHTS = { timeRange: 'all', stage: 'production' } as const;
const without = (text: string) =>
  text
    .split('\n')
    .filter((line) => !/^(service_replay_|process_|nodejs_)/.test(line))
    .join('\n')
    .replace(/"(gathered_at|evidence_gathered_at)":"[^"]*"|"to":\d+/g, '');
const JUDGED = LOOK.replace('steps:', 'readiness: {operational: {min_runs: 20}, accuracy: {min_marked: 20}}\nsteps:');

test('nothing of 1,000 replayed samples is in the figures, metrics, calibration, readiness, versions or budgets of production', async () => {
  await start({ pipelines: [JUDGED], pricing: [{ provider: 'p', model: 'm', inputPerMtok: 1, outputPerMtok: 1 }] });
  for (let batch = 0; batch < 10; batch++)
    await Promise.all(Array.from({ length: 10 }, (_, at) => site.record({}, at === 0 ? 'incorrect' : 'correct')));
  const shown = async () => {
    await site.world.uses.flush();
    const texts = await Promise.all(SHOWN.map(async (url) => without((await site.send('GET', url)).text)));
    const insights = site.services.statistics.insights(INSIGHTS, AbortSignal.timeout(60_000));
    return [...texts, without((await site.send('GET', '/metrics')).text), without(JSON.stringify(await insights))];
  };
  const before = await shown();
  const [ofTeam, ofCalibration, ofReadiness] = ['/teams', '/steps/look/calibration', READINESS].map(
    (url) => before[SHOWN.indexOf(url)],
  );
  expect(ofTeam).toContain('"runs":100');
  expect(ofCalibration).toContain('"total_n":100');
  expect(ofReadiness).toContain('"verdict":"ready"');
  const candidate = { model: 'm2', prompt_template: 'a new prompt {{summary}}' };
  for (let batch = 0; batch < 9; batch++) await site.replay({ candidate, k: 100 });
  const report = await site.replay({ candidate, k: 100 });
  await site.mark(report.run_id, 'look/0', 'incorrect');
  await site.send('POST', `/runs/${report.run_id}/feedback`, { body: { outcome: 'incorrect' } });
  expect(await shown()).toEqual(before);
  const metrics = (await site.send('GET', '/metrics')).text;
  expect(metrics).toContain('service_replay_batches_total{step_name="look"} 10\n');
  expect(metrics).toContain('service_replay_steps_total{step_name="look",grade="completed"} 1000\n');
});

test('every grade is counted once', async () => {
  const said: Script = ({ model, agent }) => {
    if (agent === 'gone') return { ok: false, type: 'not_found', message: 'no agent', retryable: false };
    return { ...sure(0.9), bad: model === 'm2' };
  };
  await start({
    agents: { investigator: said, gone: said },
    replay: { safeAgents: ['gateway:investigator', 'gateway:gone'] },
  });
  await site.record();
  await site.replay({ candidate: { model: 'm3' } });
  await site.replay({ candidate: { model: 'm2' } });
  await site.replay({ candidate: { agent: 'gone' } });
  await site.world.database.write((tx) => tx.db.updateTable('step_executions').set({ raw_response: null }).execute());
  await site.replay({ mode: 'rendered' });
  const metrics = (await site.send('GET', '/metrics')).text;
  for (const grade of ['completed', 'deterministic_failed', 'execution_failed', 'unreplayable'])
    expect(metrics).toContain(`service_replay_steps_total{step_name="look",grade="${grade}"} 1\n`);
});

const TRUSTED = LOOK.replace(
  '    deterministic_checks:',
  `    verifier: {agent: verifier, prompt_template: check}
    grounding: {agent: grounder, prompt_template: ground}
    loop_until: {confidence: 0.99, max_iterations: 3}
    on_failure: {policy: abort, webhook: {url: 'http://127.0.0.1:9/failed'}}
    deterministic_checks:`,
);

test('verifier, grounding, iterations and messages of the step are left out of a replay', async () => {
  await start({
    pipelines: [TRUSTED],
    agents: { investigator: () => sure(0.9), verifier: () => sure(0.5), grounder: () => sure(0.5, { score: 0.5 }) },
  });
  await site.record();
  site.world.calls.length = 0;
  const report = await site.replay();
  expect(site.world.calls.map(({ agent }) => agent)).toEqual(['investigator']);
  const { steps } = await site.world.ended(report.run_id);
  expect(steps[0]).toMatchObject({ verifierConfidence: null, groundingScore: null, effectiveConfidence: 0.9 });
});

const FAN_OUT = `
name: checkout
stage: production
steps:
  - {name: first, executor: gateway, agent: investigator, prompt_template: list}
  - name: look
    fan_out:
      over: steps.first.output.hosts
      as: host
      step: {executor: gateway, agent: investigator, prompt_template: 'look at {{host}} after {{steps.first.summary}}'}
`;

test('a branch of a fan-out is replayed with its item and the results before it', async () => {
  await start({
    pipelines: [FAN_OUT],
    agents: { investigator: () => sure(0.9, { hosts: ['a', 'b'] }) },
  });
  await site.record({}, 'correct', 'look/1');
  site.world.calls.length = 0;
  await site.replay({
    candidate: { prompt_template: '{{host}} {{fan_out.index}} {{fan_out.total}} {{steps.first.summary}}' },
  });
  expect(site.world.calls.map(({ input }) => input)).toEqual(['b 1 2 looked']);
});

test('a sample whose context cannot be rebuilt is unreplayable', async () => {
  await start({ pipelines: [FAN_OUT], agents: { investigator: () => sure(0.9, { hosts: ['a'] }) } });
  const { run } = await site.record({}, 'correct', 'look/0');
  const { database } = site.world;
  await database.write((tx) =>
    tx.db.deleteFrom('step_executions').where('run_id', '=', run.id).where('step_name', '=', 'first').execute(),
  );
  const report = await site.replay();
  expect(report.rows).toMatchObject([
    { status: 'unreplayable', reason: 'the recorded run has no result of step "first"' },
  ]);
});
