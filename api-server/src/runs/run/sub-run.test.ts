import { LIMITS, UNRESTRICTED } from '@signalbox/crds';
import { expect, test } from 'vitest';
import type { ActiveRun } from '../state/active-run.ts';
import { CONTEXT } from '../fixtures/engine.ts';
import { heldContext } from '../state/held.ts';
import { createShares } from '../state/shares.ts';
import { createSubRuns, type SubRunDeps } from './sub-run.ts';

const CHILD = { name: 'child', hash: 'h', config: { name: 'child', stage: 'production' }, standing: UNRESTRICTED };
const never = new Promise<void>(() => {});

/** Starts sub-runs of a pipeline that does nothing, or never ends. */
function site({ ends = true, maxOfRun = 1e9 } = {}) {
  const deps = {
    pipelineNamed: () => CHILD,
    mayCall: () => true,
    definitionBytes: { count: () => null },
    readOutcome: async () => null,
    store: { insertChild: () => null },
    persist: async () => undefined,
    hub: { open: () => ({ add: () => undefined }) },
    hold: () => (ends ? Promise.resolve() : never),
    now: () => 0,
    memory: createShares(maxOfRun),
  };
  const subRuns = createSubRuns(deps as unknown as SubRunDeps);
  const { signal } = new AbortController();
  let steps = 0;
  return (parent: ActiveRun) => {
    const asked = {
      parent,
      slot: parent.slot,
      stepName: `step${(steps += 1)}`,
      pipeline: 'child',
      context: { ok: true as const, value: {} },
      signal,
    };
    return subRuns.run(asked);
  };
}

const runBelow = (parent: ActiveRun | null): ActiveRun =>
  ({
    id: '0',
    parent,
    depth: parent ? 2 : 1,
    context: heldContext(CONTEXT),
    controller: new AbortController(),
    pipeline: {},
  }) as ActiveRun;

const REFUSED = { refused: { type: 'too_many_sub_runs', message: expect.stringContaining('2000 sub-runs') } };

test('the sub-runs below one run are bounded together, whichever of them starts more', async () => {
  const start = site();
  const top = runBelow(null);
  const below = [top, runBelow(top), runBelow(top)];
  const answers = [];
  for (let at = 0; at < LIMITS.subRuns + 5; at++) answers.push(await start(below[at % 3] as ActiveRun));
  expect(answers.filter((answer) => 'refused' in answer)).toEqual(Array.from({ length: 5 }, () => REFUSED));
  expect(await start(runBelow(null))).toMatchObject({ status: 'failed' });
});

test('sub-runs of one run that have not ended hold so much memory and no more', async () => {
  const start = site({ ends: false, maxOfRun: 150_000 });
  const top = runBelow(null);
  const answers: unknown[] = [];
  for (let at = 0; at < 10; at++) void start(top).then((answer) => answers.push(answer));
  // Each counts for 24 KiB and its context.
  await expect.poll(() => answers).toEqual(Array.from({ length: 4 }, () => REFUSED));
});
