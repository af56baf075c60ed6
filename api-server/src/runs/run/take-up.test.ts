import { afterEach, expect, test } from 'vitest';
import { createWorld, type World } from '../fixtures/engine.ts';
import type { ActiveRun } from '../state/active-run.ts';
import { childId } from '../state/ids.ts';
import { createTakeUp } from './take-up.ts';

let world: World;
afterEach(() => world.close());

const calls = (name: string, pipeline: string, more = '') =>
  `name: ${name}\n${more}steps: [{name: below, executor: pipeline, pipeline: ${pipeline}}]\n`;
const ASKS = `name: leaf\nsteps: [{name: ask, executor: human, prompt_template: 'May it?', timeout_seconds: 60}]\n`;
const ESCALATES = 'durable: {on_interrupted: escalate}\n';

const waiting = async () => (await world.approvals.list({ status: 'pending' }, { limit: 50, offset: 0 })).approvals;

/** A run whose sub-run has a sub-run that waits for a person, as a restart finds it. */
async function interrupted(more = ''): Promise<{ top: string; mid: string; leaf: string }> {
  world = await createWorld({ pipelines: [calls('top', 'mid', more), calls('mid', 'leaf'), ASKS] });
  const top = await world.start('top');
  await expect.poll(waiting).toHaveLength(1);
  await world.restart();
  await world.engine.resume();
  const mid = childId(top, 'below');
  return { top, mid, leaf: childId(mid, 'below') };
}

test('sub-runs at all levels go on where the steps that started them do', async () => {
  const { top, mid, leaf } = await interrupted();
  const [question] = await waiting();
  const by = { name: 'ada', kind: 'token', role: 'operator', requestId: null } as const;
  await world.approvals.decide(question?.id ?? '', { verdict: { decision: 'approve', fields: {}, comment: null }, by });
  expect((await world.ended(top)).run.status).toBe('completed');
  for (const id of [mid, leaf]) expect((await world.ended(id)).events).toContain('run_resumed');
});

test('sub-runs at all levels are cancelled where the run above ends without asking for them', async () => {
  const { top, mid, leaf } = await interrupted(ESCALATES);
  expect((await world.ended(top)).run.status).toBe('escalated');
  for (const id of [mid, leaf])
    expect((await world.ended(id)).run).toMatchObject({
      status: 'cancelled',
      error: { message: 'its parent run has ended' },
    });
});

test('a sub-run that cannot be read as one is named in the log, and ends nothing else', async () => {
  world = await createWorld({ pipelines: [ASKS] });
  const said: object[] = [];
  const takeUp = createTakeUp({
    now: () => 0,
    subRuns: { forget: () => [{ id: 'broken', read: async () => ({}) }] },
    log: { error: (fields: object) => void said.push(fields) },
  } as unknown as Parameters<typeof createTakeUp>[0]);
  takeUp.endBelow({ id: 'top', controller: new AbortController() } as ActiveRun);
  await expect.poll(() => said).toMatchObject([{ run_id: 'broken' }]);
});
