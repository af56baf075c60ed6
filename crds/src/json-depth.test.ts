import { expect, test } from 'vitest';
import { createValueCounter, depthOf, holdsMore, nestsDeeper, valuesIn } from './json-depth.ts';

test.each([
  [null, 1],
  ['text', 1],
  [[], 1],
  [[1, 2, 3], 4],
  [{ a: { b: [1] }, c: 2 }, 5],
])('%j is made of %i values', (value, count) => {
  expect([holdsMore(value, count), holdsMore(value, count - 1)]).toEqual([false, true]);
});

test('levels are counted up to one more than asked for', () => {
  const value = { a: 0, b: [[], { c: {} }] };
  expect([depthOf(0, 9), depthOf(value, 9), depthOf(value, 4), depthOf(value, 2)]).toEqual([0, 4, 4, 3]);
});

test('a value of any depth is looked at without recursion', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  expect([holdsMore(deep, 100_000), holdsMore(deep, 99_999)]).toEqual([false, true]);
  expect([nestsDeeper(deep, 100_000), nestsDeeper(deep, 99_999)]).toEqual([false, true]);
});

test('values are counted in pieces as in the whole, wherever it is cut', () => {
  const text = JSON.stringify({ a: [1, '[,{', '\\', '"'], 'b,"': { c: '\\",' } });
  const whole = valuesIn(text);
  expect(whole).toBe(7);
  for (let at = 0; at <= text.length; at++) {
    const count = createValueCounter();
    expect(count(text.slice(0, at)) + count('') + count(text.slice(at))).toBe(whole);
  }
});
