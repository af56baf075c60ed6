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

test('who has much waiting delays who has little by a turn, however much each takes, and of each the order stays', async () => {
  const inTurn = createTurns();
  const done: string[] = [];
  inTurn(() => work(10));
  const ask = (whose: string, at: number, milliseconds: number) =>
    inTurn(() => {
      done.push(`${whose} ${at}`);
      work(milliseconds);
    }, whose);
  const many = Array.from({ length: 20 }, (_, at) => at);
  for (const at of many) ask('a', at, 10);
  for (const at of many) ask('b', at, 10);
  for (const at of many) ask('c', at, 0.1);
  while (!done.includes('c 19')) await setImmediate();
  const of = (whose: string) => done.filter((name) => name.startsWith(whose));
  expect(of('c')).toEqual(many.map((at) => `c ${at}`));
  for (const whose of ['a', 'b']) {
    expect(of(whose)).toEqual(many.slice(0, of(whose).length).map((at) => `${whose} ${at}`));
    expect(of(whose).length).toBeLessThan(many.length);
  }
});
