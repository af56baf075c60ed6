import { expect, test } from 'vitest';
import { z } from 'zod';
import { issueWords, plainIssues } from './issue-words.ts';

const words = (schema: z.ZodType, value: unknown): string | undefined => {
  const { error } = schema.safeParse(value);
  return error?.issues.map(issueWords).join();
};

test.each([
  [z.strictObject({ a: z.string() }), {}, 'is required'],
  [z.string(), 3, 'expected string, received number'],
  [z.record(z.string(), z.string()), 3, 'expected object, received number'],
  [z.enum(['a', 'b']), 'c', 'expected one of "a"|"b"'],
  [z.array(z.string()).min(1), [], 'needs at least 1 item'],
  [z.array(z.string()).max(2), ['', '', ''], 'may have at most 2 items'],
  [z.string().min(2), 'a', 'needs at least 2 characters'],
  [z.string().min(1, 'is empty'), '', 'is empty'],
  [z.int().min(1).max(200), 900, 'must be at most 200'],
  [z.number().min(0), -1, 'must be at least 0'],
  [z.number().positive(), 0, 'must be more than 0'],
  [z.number().lt(1), 1, 'must be less than 1'],
  [z.string().regex(/^a$/), 'b', 'must match pattern /^a$/'],
  [z.union([z.string(), z.number()]), true, 'is not valid'],
  [z.record(z.string(), z.string()).refine(() => false, 'is not ours'), {}, 'is not ours'],
])('%#: words that a person can act on', (schema, value, expected) => {
  expect(words(schema, value)).toBe(expected);
});

test('each unknown key is an issue at its own place', () => {
  const { error } = z.strictObject({ a: z.strictObject({}), n: z.string() }).safeParse({ a: { b: 1, c: 2 }, n: 1 });
  expect(plainIssues(error?.issues ?? [])).toEqual([
    { path: ['a', 'b'], msg: 'unknown key', unknownKey: true },
    { path: ['a', 'c'], msg: 'unknown key', unknownKey: true },
    { path: ['n'], msg: 'expected string, received number', unknownKey: false },
  ]);
});
