import { expect, test } from 'vitest';
import { createStartQueue, STARTS_A_TURN } from './start-queue.ts';

/** A clock and an event loop that stand still until told. */
function still() {
  let now = 0;
  let turns: (() => void)[] = [];
  const begun: number[] = [];
  const starts = createStartQueue({ now: () => now, nextTurn: (work) => void turns.push(work) });
  return {
    begun,
    ask: (run: number) => void starts.turn().then(() => begun.push(run)),
    wait: (ms: number) => void (now += ms),
    turn: async () => {
      const due = turns;
      turns = [];
      for (const work of due) work();
      await Promise.resolve();
      return due.length;
    },
  };
}

test('a run that comes alone begins in the next turn', async () => {
  const { ask, turn, begun } = still();
  ask(1);
  await Promise.resolve();
  expect(begun).toEqual([]);
  await turn();
  expect(begun).toEqual([1]);
  expect(await turn()).toBe(0);
});

test('of many that come at once a few begin each turn, in their order', async () => {
  const { ask, turn, begun } = still();
  const runs = Array.from({ length: STARTS_A_TURN * 2 + 1 }, (_, run) => run);
  for (const run of runs) ask(run);
  await turn();
  expect(begun).toEqual(runs.slice(0, STARTS_A_TURN));
  await turn();
  expect(begun).toHaveLength(STARTS_A_TURN * 2);
  await turn();
  expect(begun).toEqual(runs);
});

test('what has waited long begins with them', async () => {
  const { ask, turn, wait, begun } = still();
  for (let run = 0; run < 30; run++) ask(run);
  wait(101);
  ask(30);
  await turn();
  expect(begun).toHaveLength(30);
  await turn();
  expect(begun.at(-1)).toBe(30);
});
