import { expect, test } from 'vitest';
import { closestName } from './closest-name.ts';

test('a name within two mistakes is meant', () => {
  expect(closestName('sumary', ['severity', 'summary'])).toBe('summary');
  expect(closestName('confidnece', ['confidence', 'context'])).toBe('confidence');
  expect(closestName('x', ['summary'])).toBeNull();
});

test('a long name means none, so that a definition with two of 30,000 characters does not take the memory', () => {
  const long = 'a'.repeat(30_000);
  expect(closestName(`${long}b`, [`${long}a`])).toBeNull();
});
