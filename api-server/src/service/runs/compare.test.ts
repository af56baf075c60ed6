import { expect, test } from 'vitest';
import type { StepDetail } from '../views/step.ts';
import { compare } from './compare.ts';

test('between the steps of two runs that answered the same, at length, others get their turn', async () => {
  const output = { list: Array.from({ length: 20_000 }, (_, at) => ({ at })) };
  const steps = Array.from(
    { length: 10 },
    (_, at) => ({ step_name: `s${at}`, step_index: at, summary: 'fine', output }) as unknown as StepDetail,
  );
  let turns = 0;
  const tick = () => {
    turns += 1;
    timer = setImmediate(tick);
  };
  let timer = setImmediate(tick);
  const run = { line: {} as never, steps };
  expect((await compare(run, run)).steps.map(({ output_diff: diff }) => diff)).toEqual(steps.map(() => ''));
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(5);
});

const stepOf = (output: object) =>
  ({ step_name: 's', step_index: 0, summary: 'fine', output }) as unknown as StepDetail;
const diffOf = async (a: object, b: object) => {
  const [one, other] = [a, b].map((output) => ({ line: {} as never, steps: [stepOf(output)] }));
  return (await compare(one!, other!)).steps[0]?.output_diff;
};

test('of a long list that lies deep no more is looked at than is compared', async () => {
  let looked = 0;
  const list = new Proxy(Array<number>(50_000).fill(1), {
    get: (values, key, receiver) => {
      looked += 1;
      return Reflect.get(values, key, receiver) as unknown;
    },
  });
  let deep: object = { list };
  for (let level = 0; level < 97; level++) deep = { z: [], deep };
  expect(await diffOf({ deep, other: 1 }, { deep, other: 2 })).toBe('');
  expect(looked).toBeLessThan(2_000);
});

test('the order of keys is no difference, what stands up to the bound is one', async () => {
  expect(await diffOf({ a: 1, b: { c: 'x', d: [1, 2] } }, { b: { d: [1, 2], c: 'x' }, a: 1 })).toBe('');
  expect(await diffOf({ a: 1 }, { a: 2 })).toContain('-  "a": 1,\n+  "a": 2,');
  const text = 'x'.repeat(70_000);
  expect(await diffOf({ a: 1, text }, { a: 2, text })).toContain('+  "a": 2,');
  expect(await diffOf({ text, z: 1 }, { text, z: 2 })).toBe('');
});
