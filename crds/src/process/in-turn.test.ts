import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { asker, forAsker } from './asker.ts';
import { createTurns } from './in-turn.ts';

const work = (milliseconds: number) => {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
};

test('work that waits is done in its order, for the one who asks, and what it leaves to be done at once counts', async () => {
  const inTurn = createTurns();
  const done: string[] = [];
  const turns: string[][] = [];
  const ask = (name: string) =>
    forAsker(name, () =>
      inTurn(() => {
        done.push(asker());
        void Promise.resolve().then(() => Promise.resolve().then(() => work(3)));
      }),
    );
  inTurn(() => work(10));
  const names = Array.from({ length: 20 }, (_, at) => `asker-${at}`);
  for (const name of names) ask(name);
  expect(done).toEqual([]);
  while (done.length < names.length) {
    const before = done.length;
    await setImmediate();
    turns.push(done.slice(before));
  }
  expect(done).toEqual(names);
  expect(Math.max(...turns.map(({ length }) => length))).toBeLessThan(5);
});
