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

test('names count as texts do', () => {
  const named = (name: string) => ({ metadata: { data: { [name]: 1 } } });
  expect(sizeOfValues(named('k'.repeat(16 * 1024)))).toBe('small');
  expect(sizeOfValues(named('k'.repeat(16 * 1024 + 1)))).toBe('large');
  expect(sizeOfValues({ ['k'.repeat(16 * 1024 + 1)]: 1 })).toBe('large');
  expect(sizeOfValues(named('k'.repeat(16 * 1024 * 1024 + 1)))).toBe('huge');
});
