import { expect, test, vi } from 'vitest';
import { definitionBytes } from './held-definitions.ts';
import { sizeOfValues } from './size-of-values.ts';

const rows = (count: number, rowOf: (at: number) => object) => Array.from({ length: count }, (_, at) => rowOf(at));

test('objects of one shape count as their values, those with names or an order of their own count their names', () => {
  const alike = sizeOfValues(rows(100, (at) => ({ name: 'a', value: at })));
  expect(alike).toBeLessThan(6_000);
  expect(sizeOfValues(rows(100, (at) => ({ [`name${at}`]: 'a', [`value${at}`]: at })))).toBe(alike + 198 * 160);
  expect(sizeOfValues(rows(2, (at) => (at === 0 ? { a: 1, b: 1 } : { b: 1, a: 1 })))).toBe(6 * 16 + 4 * 160);
  expect(sizeOfValues(rows(50, (at) => ({ [`outer${at}`]: { [`inner${at}`]: null } })))).toBeGreaterThan(100 * 160);
  expect(sizeOfValues('text')).toBe(0);
});

test('a list is not asked for its keys, of which each is a text', () => {
  const ownKeys = vi.fn<typeof Reflect.ownKeys>(Reflect.ownKeys);
  const list = new Proxy([1, null, { a: 1 }], { ownKeys });
  expect(sizeOfValues({ list }, '[{')).toBe(2 * 16 + 2 * 160);
  expect(definitionBytes({ list })).toBeGreaterThan(0);
  expect(ownKeys).not.toHaveBeenCalled();
});
