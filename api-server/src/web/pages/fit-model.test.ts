import { expect, test } from 'vitest';
import { fitModel } from './fit-model.ts';

test('a page with ordinary texts stays as it is', () => {
  const model = { title: 'Runs', rows: [{ summary: 'x'.repeat(20_000), at: new Date(0), none: null }] };
  expect(fitModel(model)).toBe(model);
});

test.each([
  ['a few long texts', { steps: Array.from({ length: 3 }, () => ({ prompt: '<'.repeat(250_000) })) }],
  [
    'many texts',
    { steps: Array.from({ length: 1000 }, () => ({ summary: 'x'.repeat(5000), more: ['y'.repeat(400)] })) },
  ],
])('%s are cut until the page is small, and say so', (_, model) => {
  const fitted = JSON.stringify(fitModel({ id: 'run-1', ...model }));
  expect(fitted.length).toBeLessThan(500_000);
  expect(fitted).toContain('characters more; the API has them all');
  expect(fitted).toContain('run-1');
});

test('what somebody is asked to approve is never cut', () => {
  const input = 'x'.repeat(400_000);
  const fitted = fitModel({ approvals: [{ input }], log: ['y'.repeat(400_000)] });
  expect(fitted.approvals[0]?.input).toBe(input);
  expect(fitted.log[0]?.length).toBeLessThan(400);
});
