import { afterEach, expect, test, vi } from 'vitest';
import type { Snapshot } from '../../definitions/snapshot.ts';
import { runDetail } from '../../store/tables/run-detail.ts';
import { beginRerun } from '../fixtures/begin-rerun.ts';
import { CONTEXT, createWorld, hang, sure, type Ended, type World } from '../fixtures/engine.ts';
import { planRerun } from './rerun.ts';

let world: World;
afterEach(async () => {
  vi.restoreAllMocks();
  await world.close();
});

const pipeline = (...steps: string[]) => `name: p\nstage: production\nsteps: [${steps.join(', ')}]`;
const agent = (name: string) => `{name: ${name}, executor: gateway, agent: ${name}, prompt_template: '{{context}}'}`;
const both = '{name: both, parallel: {steps: [';
const BOTH = `${both}${agent('x')}, ${agent('y')}]}}`;
const ASK = "{name: ask, executor: human, prompt_template: 'Restart?', timeout_seconds: 900";

const pending = async () => (await world.approvals.list({ status: 'pending' }, { limit: 9, offset: 0 })).approvals;
const hasEnded = async (id: string, name: string) => {
  const { steps } = (await runDetail(world.database.db, id, { raw: false }))!;
  return steps.some(({ stepName, completedAt }) => stepName === name && completedAt !== null);
};

async function approve() {
  await expect.poll(async () => (await pending()).length).toBe(1);
  const by = { name: 'ann', kind: 'token' as const, role: 'operator', requestId: null };
  const verdict = { decision: 'approve' as const, fields: {}, comment: null };
  await world.approvals.decide((await pending())[0]?.id ?? '', { verdict, by });
}

/** The branch `x`, which begins first, ends last. */
async function make(...steps: string[]) {
  const quick = Promise.withResolvers<void>();
  world = await createWorld({
    pipelines: [pipeline(BOTH, agent('mid'), `${ASK}, when: 'context == "risky"'}`, ...steps)],
    agents: {
      x: () => quick.promise.then(() => sure(0.9, { next_step_context: 'risky' })),
      y: () => sure(0.9, { next_step_context: 'fine' }),
      mid: hang,
    },
  });
  const id = await world.start('p');
  await expect.poll(() => hasEnded(id, 'y')).toBe(true);
  quick.resolve();
  return id;
}

/** Restarts while the last call waits for its answer. */
async function restartAt(name: string) {
  await expect.poll(() => world.calls.at(-1)?.agent).toBe(name);
  await world.restart();
  world.agents[name] = () => sure(0.9);
  await world.engine.resume();
}

const rerun = (original: Ended, fromStep: string) => {
  const { run, steps } = original;
  const { id, status, pipelineName, stage } = run;
  const snapshot = { byName: world.pipelines } as unknown as Snapshot;
  const facts = { id, status, pipelineName, stage, context: CONTEXT, namespace: null, steps, below: new Map() };
  const plan = planRerun(snapshot, facts, fromStep);
  if (plan.kind !== 'ready') throw new Error(JSON.stringify(plan));
  return beginRerun(world, plan.request);
};

test.each(['as it goes', 'in one millisecond'])(
  'a restart keeps the order in which branches ended: %s',
  async (clock) => {
    if (clock !== 'as it goes') vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    const id = await make();
    await restartAt('mid');
    await approve();
    const run = await world.ended(id);
    expect(run.step('ask').status).toBe('completed');
    expect(new Set(world.calls.filter((call) => call.agent === 'mid').map(({ input }) => input))).toEqual(
      new Set(['risky']),
    );
  },
);

test.each([false, true])('a rerun keeps the order in which branches ended; restarted: %s', async (restarts) => {
  vi.spyOn(Date, 'now').mockReturnValue(Date.now());
  const id = await make();
  await restartAt('mid');
  await approve();
  const original = await world.ended(id);
  world.agents['mid'] = restarts ? hang : () => sure(0.9);
  const again = await rerun(original, 'mid');
  if (restarts) await restartAt('mid');
  await approve();
  const run = await world.ended(again);
  expect([run.step('x').status, run.step('ask').status]).toEqual(['skipped', 'completed']);
});

test('results that a rerun took over come before its own after a restart, wherever the pipeline had their steps', async () => {
  world = await createWorld({
    pipelines: [pipeline(agent('one'), agent('two'), agent('three'), agent('mid'))],
    agents: {
      one: () => sure(0.9),
      two: () => sure(0.9),
      three: () => sure(0.9, { next_step_context: 'fine' }),
      five: () => sure(0.9, { next_step_context: 'risky' }),
      mid: () => sure(0.9),
    },
  });
  const original = await world.run('p');
  const changed = await createWorld({
    pipelines: [pipeline(agent('three'), agent('five'), agent('mid'), `${ASK}, when: 'context == "risky"'}`)],
  });
  for (const [name, loaded] of changed.pipelines) world.pipelines.set(name, loaded);
  await changed.close();
  world.agents['mid'] = hang;
  const id = await rerun(original, 'five');
  await restartAt('mid');
  await approve();
  expect((await world.ended(id)).steps.map(({ stepIndex }) => stepIndex)).toEqual([0, 1, 2, 3]);
});

test.each([false, true])('a rerun has no trust of results that it took over; restarted: %s', async (restarts) => {
  world = await createWorld({ pipelines: [pipeline(agent('one'), `${ASK}}`)], agents: { one: () => sure(0.9) } });
  const first = await world.start('p');
  await approve();
  const original = await world.ended(first);
  expect(original.run.trust).toBe(0.9);
  const id = await rerun(original, 'ask');
  await expect.poll(async () => (await pending()).length).toBe(1);
  if (restarts) {
    await world.restart();
    await world.engine.resume();
  }
  await approve();
  expect((await world.ended(id)).run).toMatchObject({ status: 'completed', trust: null });
});
