import { afterEach, expect, test } from 'vitest';
import { readEvents } from '../../store/tables/bodies/run-bodies.ts';
import { createWorld, sure, type World } from '../fixtures/engine.ts';

let world: World;
let free: () => void = () => undefined;
afterEach(async () => {
  free();
  await world.close();
});

const named = (name: string, steps: string, more = '') =>
  `name: ${name}\nstage: production\n${more}\nsteps: [${steps}]`;
const ASK = '{name: ask, executor: human, timeout_seconds: 90000, prompt_template: Restart?}';
const ACT = '{name: act, executor: gateway, agent: act, prompt_template: hi}';
const SUB = '{name: sub, executor: pipeline, pipeline: below, on_failure: continue}';
const pending = async () => (await world.approvals.list({ status: 'pending' }, { limit: 9, offset: 0 })).approvals;

test('sub-runs that wait for a place of their pipeline leave a slot for the run that has it', async () => {
  const below = named('below', `${ASK}, ${ACT}`, 'concurrency: {limit: 1}');
  world = await createWorld({ pipelines: [named('p', SUB), below], agents: { act: () => sure(0.9) }, maxRuns: 2 });
  const first = await world.start('p', {}, 'queued');
  await expect.poll(async () => (await pending()).length).toBe(1);
  const others = [await world.start('p', {}, 'queued'), await world.start('p', {}, 'queued')];
  for (const id of [first, ...others]) {
    await expect.poll(async () => (await pending()).length).toBe(1);
    await expect.poll(() => world.capacity.active()).toBe(0);
    const [question] = await pending();
    const verdict = { decision: 'approve' as const, fields: {}, comment: null };
    const by = { name: 'ann', kind: 'token' as const, role: 'operator', requestId: null };
    expect(await world.approvals.decide(question?.id ?? '', { verdict, by })).toMatchObject({ kind: 'decided' });
    expect((await world.ended(id)).run.status).toBe('completed');
  }
  expect(world.calls).toHaveLength(3);
});

test('a run goes on in a slot behind a sub-run whose time was over while it asked people', async () => {
  const below = named('below', ASK, 'timeout_seconds: 1');
  const { promise: held, resolve } = Promise.withResolvers<void>();
  free = resolve;
  const agents = { act: () => held.then(() => sure(0.9)) };
  world = await createWorld({ pipelines: [named('p', `${SUB}, ${ACT}`), below], agents, maxRuns: 1 });
  for (let run = 0; run < 3; run++) {
    await world.start('p', {}, 'queued');
    await expect.poll(async () => (await pending()).length).toBe(run + 1);
  }
  await expect.poll(() => world.capacity.waiting(), { timeout: 5_000 }).toBe(2);
  expect(world.calls).toHaveLength(1);
  expect(world.capacity.active()).toBe(1);
});

test('a restart cancels no run of a concurrency group that has room for all that were in it', async () => {
  world = await createWorld({ pipelines: [named('p', ASK, 'concurrency: {limit: 3, on_limit: cancel_running}')] });
  const ids = [await world.start('p'), await world.start('p'), await world.start('p')];
  await expect.poll(async () => (await pending()).length).toBe(3);
  await world.restart();
  await world.engine.resume();
  const last = async (id: string) => (await readEvents(world.database.db, id, 0)).at(-1)?.event;
  await expect.poll(() => Promise.all(ids.map(last))).toEqual(['step_resumed', 'step_resumed', 'step_resumed']);
  expect(await pending()).toHaveLength(3);
});
