import { expect, test } from 'vitest';
import { fitModel, renderFitting } from './fit-model.ts';

const MOST = 350_000;

test('a page with ordinary texts stays as it is', () => {
  const model = { title: 'Runs', rows: [{ summary: 'x'.repeat(20_000), at: new Date(0), none: null }] };
  expect(fitModel(model, MOST).fitted).toBe(model);
});

test.each([
  ['a few long texts', { steps: Array.from({ length: 3 }, () => ({ prompt: '<'.repeat(250_000) })) }],
  [
    'many texts',
    { steps: Array.from({ length: 1000 }, () => ({ summary: 'x'.repeat(5000), more: ['y'.repeat(400)] })) },
  ],
])('%s are cut until they are few characters, and say so', (_, model) => {
  const fitted = JSON.stringify(fitModel({ id: 'run-1', ...model }, MOST).fitted);
  expect(fitted.length).toBeLessThan(500_000);
  expect(fitted).toContain('characters more; the API has them all');
  expect(fitted).toContain('run-1');
});

test('what somebody is asked to approve is never cut', () => {
  const input = 'x'.repeat(400_000);
  const { fitted } = fitModel({ approvals: [{ input }], log: ['y'.repeat(400_000)] }, MOST);
  expect(fitted.approvals[0]?.input).toBe(input);
  expect(fitted.log[0]?.length).toBeLessThan(400);
});

test('texts are cut by what the page becomes with them, and addresses lead where they led', () => {
  const href = `/ui/runs?q=${'z'.repeat(400)}`;
  const model = {
    hidden: 'h'.repeat(100_000),
    rows: Array.from({ length: 100 }, () => ({ href, text: 't'.repeat(900) })),
  };
  const html = renderFitting(model, ({ rows }) =>
    rows.map((row) => `<a href="${row.href}">${row.text}</a>${row.text}`).join(''),
  );
  expect(html.length).toBeLessThan(180_000);
  expect(html).toContain(href);
  expect(html).toContain('t'.repeat(250));
});

test('a page that is small whatever its model holds is rendered once', () => {
  let rendered = 0;
  renderFitting({ hidden: 'h'.repeat(300_000) }, () => `page ${(rendered += 1)}`);
  expect(rendered).toBe(1);
});
