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
