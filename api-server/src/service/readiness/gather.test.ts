import { expect, test } from 'vitest';
import { pipelineOf, row } from '../../analytics/readiness/readiness.fixture.ts';
import { gatherEvidence, type GatherDeps } from './gather.ts';

/** A store with one execution a run; `runs` of them. */
function storeOf(runs: number) {
  const slices: { before: number | null; runs: number }[] = [];
  const deps: GatherDeps = {
    readRows: ({ before, runs: wanted }) => {
      slices.push({ before, runs: wanted });
      const newest = before ?? runs;
      const rows = Array.from({ length: Math.min(wanted, newest) }, () => row());
      return Promise.resolve({ rows, next: newest > wanted ? newest - wanted : null });
    },
    agentVersions: () => Promise.resolve(() => null),
    now: () => 7,
  };
  return { deps, slices };
}

const executions = ({ evidence }: Awaited<ReturnType<typeof gatherEvidence>>) =>
  [...evidence.of('look').combos.values()].reduce((sum, { tally }) => sum + tally.rows, 0);

test('evidence is read in slices until there is no more', async () => {
  const { deps, slices } = storeOf(250);
  const gathered = await gatherEvidence(deps, pipelineOf());
  expect(slices).toEqual([
    { before: null, runs: 100 },
    { before: 150, runs: 100 },
    { before: 50, runs: 100 },
  ]);
  expect(executions(gathered)).toBe(250);
  expect(gathered).toMatchObject({ at: 7, cut: false });
});

test('of more than 10,000 runs the newest are looked at, and that is said', async () => {
  const gathered = await gatherEvidence(storeOf(10_050).deps, pipelineOf());
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
  await gatherEvidence(deps, pipelineOf());
  clearImmediate(timer);
  expect(turns).toBeGreaterThanOrEqual(3);
});
