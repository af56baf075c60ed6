import { expect, test } from 'vitest';
import { sizeOfValues } from './inline.ts';

test('the steps of a run that goes on are looked through again in each text', () => {
  const output = { list: Array.from({ length: 150_000 }, () => 0) };
  const steps: Record<string, object> = { first: { output } };
  const values = { steps, metadata: {} };
  expect(sizeOfValues(values)).toBe('large');
  steps['second'] = { output };
  expect(sizeOfValues(values)).toBe('huge');
  expect(sizeOfValues({ steps: { second: { output } } })).toBe('large');
});
