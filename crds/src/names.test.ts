import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DefinitionName, isName, NAME_PATTERN, StepName } from './names.ts';

test.each(['a', 'A9', '0', 'a-b_c', 'x'.repeat(64)])('%j is a name', (name) => {
  expect(isName(name)).toBe(true);
  expect(DefinitionName.safeParse(name).success).toBe(true);
});

test.each(['', '-a', '_a', 'a b', 'a/b', '../a', 'a\n', '\na', 'ä', 'x'.repeat(65), 'a.yaml', 'a\0', '__proto__'])(
  '%j is no name',
  (name) => {
    expect(isName(name)).toBe(false);
    expect(DefinitionName.safeParse(name).success).toBe(false);
  },
);

test('a name is always one plain path segment', () => {
  fc.assert(
    fc.property(fc.stringMatching(NAME_PATTERN), (name) => {
      expect(name).toMatch(/^[^./\\\s]+$/);
      expect(name.length).toBeLessThanOrEqual(64);
    }),
  );
});

test('whatever else is given is refused without an exception', () => {
  fc.assert(fc.property(fc.anything(), (value) => typeof value === 'string' || !isName(value)));
});

test('a step cannot be called like a part of every object', () => {
  expect(StepName.safeParse('constructor').success).toBe(false);
});
