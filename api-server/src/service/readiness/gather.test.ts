import { expect, test } from 'vitest';
import { batchOf } from '../../analytics/readiness/executions.ts';
import { pipelineOf, row } from '../../analytics/readiness/readiness.fixture.ts';
import { subjectOf } from '../../analytics/readiness/steps.ts';
import { gatherEvidence, type GatherDeps } from './gather.ts';

/** A store with one execution a run, read 100 runs at a time. */
function storeOf(runs: number) {
  const read: number[] = [];
  const deps: GatherDeps = {
    async *readEvidence() {
      for (let left = runs; left > 0; left -= 100) {
        const some = Math.min(left, 100);
        read.push(some);
        const found = Array.from({ length: some }, () => row());
        yield await Promise.resolve(
          batchOf(
            found.map(({ run }) => run),
            found,
          ),
        );
      }
    },
    agentVersions: () => Promise.resolve(new Map()),
    now: () => 7,
  };
  return { deps, read };
}

const executions = ({ evidence }: Awaited<ReturnType<typeof gatherEvidence>>) =>
  [...evidence.of('look').combos.values()].reduce((sum, { tally }) => sum + tally.rows, 0);

test('evidence is read in slices until there is no more', async () => {
  const { deps, read } = storeOf(250);
  const gathered = await gatherEvidence(deps, subjectOf(pipelineOf()));
  expect(read).toEqual([100, 100, 50]);
  expect(executions(gathered)).toBe(250);
  expect(gathered).toMatchObject({ at: 7, cut: false });
});

test('of more than 10,000 runs the newest are looked at, and that is said', async () => {
  const gathered = await gatherEvidence(storeOf(10_050).deps, subjectOf(pipelineOf()));
  expect(executions(gathered)).toBe(10_000);
  expect(gathered.cut).toBe(true);
});

test('others get their turn between two slices', async () => {
  const { deps } = storeOf(300);
  let turns = 0;
  const tick = () => {
    turns += 1;
    timer = setImmediate(tick);
  };
  let timer = setImmediate(tick);
  await gatherEvidence(deps, subjectOf(pipelineOf()));
  clearImmediate(timer);
  expect(turns).toBeGreaterThanOrEqual(3);
});
