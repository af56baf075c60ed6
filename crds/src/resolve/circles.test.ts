import { expect, test } from 'vitest';
import { circlesOf } from './circles.ts';

/** `a>bc` calls `b` and `c`. */
const callsOf = (text: string) =>
  new Map(text.split(' ').map((one) => [one.slice(0, 1), one.slice(2).split('')] as const));

test.each([
  ['a>a b>a', ['a', 'b']],
  ['a>b b>c c>x', ['a', 'b', 'c']],
  ['a>b b>cd c>a d>x', ['abc', 'd']],
  ['a>b b>a c>bd d>e e>d', ['ab', 'c', 'de']],
  ['a>bc b>a c>d d>a', ['abcd']],
  ['a>c b>c c>d d>ec e>f f>f', ['a', 'b', 'cd', 'e', 'f']],
])('of the calls %s these are on a circle together', (text, expected) => {
  const together = Map.groupBy(circlesOf(callsOf(text)), ([, circle]) => circle);
  const names = [...together.values()].map((all) =>
    all
      .map(([name]) => name)
      .toSorted()
      .join(''),
  );
  expect(names.toSorted()).toEqual(expected);
});
