import { expect, test } from 'vitest';
import { readDecision } from './form.ts';

test.each([
  ['5', 5],
  [' 5 ', 5],
  ['0', 0],
  [' ', ' '],
  ['five', 'five'],
])('what is entered as %j for a number counts as %j', (entered, value) => {
  const form = { decision: 'approve', 'field.replicas': entered };
  expect(readDecision(form, [{ name: 'replicas', type: 'integer', required: false }])?.fields).toEqual({
    replicas: value,
  });
});
