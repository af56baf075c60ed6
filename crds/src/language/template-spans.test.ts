import { expect, test } from 'vitest';
import { compileTemplate } from './template.ts';

function render(source: string, data: Record<string, unknown>) {
  const compiled = compileTemplate(source, { sandbox: true });
  if (!compiled.ok) throw new Error(compiled.msg);
  return compiled.template.render(data);
}
const numbers = (length: number) => ({ items: Array.from({ length }, () => 1) });

test('values that follow each other have one span', () => {
  const spans = [
    [1, 6],
    [7, 8],
  ];
  expect(render('x{{#each items}}{{this}}{{/each}}{{a}}-{{a}}', { ...numbers(4), a: 2 })).toMatchObject({ spans });
  expect(render('{{#each items}}{{this}}{{this}}{{/each}}', numbers(50_000))).toMatchObject({ spans: [[0, 100_000]] });
});

test('a text has values in 10,000 places, and not in one more', () => {
  const list = (length: number) => render('{{#each items}}{{this}},{{/each}}', numbers(length));
  expect(list(10_000)).toMatchObject({ ok: true });
  expect(list(10_001)).toMatchObject({
    ok: false,
    reason: 'too_large',
    msg: expect.stringContaining('more than 10000 places'),
  });
});
