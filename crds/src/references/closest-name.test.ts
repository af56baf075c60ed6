import { expect, test } from 'vitest';
import { closestName, suggestions } from './closest-name.ts';

test('a name within two mistakes is meant', () => {
  expect(closestName('sumary', ['severity', 'summary'])).toBe('summary');
  expect(closestName('confidnece', ['confidence', 'context'])).toBe('confidence');
  expect(closestName('x', ['summary'])).toBeNull();
});

test('a long name means none, so that a definition with two of 30,000 characters does not take the memory', () => {
  const long = 'a'.repeat(30_000);
  expect(closestName(`${long}b`, [`${long}a`])).toBeNull();
});

test('of many missing names the first 200 are compared, and each of them once', () => {
  let compared = 0;
  class Names extends Set<string> {
    override [Symbol.iterator]() {
      compared += 1;
      return super[Symbol.iterator]();
    }
  }
  const meant = suggestions(new Names(['summary']));
  expect([meant('sumary'), meant('sumary')]).toEqual(Array(2).fill('; did you mean "summary"?'));
  for (let n = 0; n < 300; n++) meant(`missing${n}`);
  expect([meant('sumary'), meant('summry'), compared]).toEqual(['; did you mean "summary"?', '', 200]);
});

test('of thousands of long names only some are compared with many that are missing', () => {
  let compared = 0;
  class Names extends Set<string> {
    override *[Symbol.iterator]() {
      for (const name of super[Symbol.iterator]()) {
        compared += 1;
        yield name;
      }
      return undefined;
    }
  }
  const named = (start: string, at: number) => `${start}${'ab'.repeat(25)}${at + 100_000}`;
  const meant = suggestions(new Names(Array.from({ length: 5500 }, (_, at) => named('x', at))));
  expect(meant(named('y', 0))).toBe(`; did you mean "${named('x', 0)}"?`);
  for (let at = 1; at < 100; at++) meant(named('y', at));
  expect(meant(named('y', 100))).toBe('');
  expect(compared).toBeLessThan(50_000);
});
