import { expect, test } from 'vitest';
import { pagesWith } from '../fixtures/pages-with.ts';
import { runLine, unmarkedLine } from '../fixtures/runs.ts';

test('pages of lists link to the files, with the filters that an export has', async () => {
  const { get } = await pagesWith({ lines: [runLine()], unmarked: { steps: [unmarkedLine()], more: false } });
  expect((await get('/ui/runs?pipeline=checkout-errors')).body).toContain(
    'href="/ui/exports/steps?format&#x3D;csv&amp;pipeline&#x3D;checkout-errors"',
  );
  expect((await get('/ui/marking')).body).toContain('href="/ui/exports/marks?format&#x3D;jsonl"');
});

test('a session gets the file, and without one the login', async () => {
  const { get } = await pagesWith({ exported: ['a\n', 'b\n'] });
  const answer = await get('/ui/exports/runs?format=csv');
  expect([answer.statusCode, answer.headers['content-type'], answer.body]).toEqual([
    200,
    'text/csv; charset=utf-8',
    'a\nb\n',
  ]);
  expect(answer.headers['content-disposition']).toBe('attachment; filename="runs.csv"');
  expect((await get('/ui/exports/runs?format=xml')).statusCode).toBe(400);
  const open = await pagesWith({ viewer: null });
  expect((await open.get('/ui/exports/runs')).statusCode).toBe(303);
});
