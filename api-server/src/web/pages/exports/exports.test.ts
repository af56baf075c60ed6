import { expect, test } from 'vitest';
import { VIEWER } from '../fixtures/fake-deps.ts';
import { pagesWith } from '../fixtures/pages-with.ts';
import { runDetail, runLine, unmarkedLine } from '../fixtures/runs.ts';

test('pages of lists link to the files, with the filters that an export has', async () => {
  const { get } = await pagesWith({ lines: [runLine()] });
  expect((await get('/ui/runs?pipeline=checkout-errors')).body).toContain(
    'href="/ui/exports/steps?format&#x3D;csv&amp;pipeline&#x3D;checkout-errors"',
  );
});

test('the page of marking offers marks once there are some, also where nothing is left to mark', async () => {
  const unmarked = { steps: [unmarkedLine()], more: false };
  const { get, post } = await pagesWith({ details: [runDetail()], unmarked });
  const offered = async (query = '') => (await get(`/ui/marking${query}`)).body.includes('/ui/exports/marks?format');
  expect(await offered()).toBe(false);
  await post(`/ui/runs/${runDetail().id}/feedback`, { _csrf: VIEWER.csrf, outcome: 'correct' });
  expect([await offered(), await offered('?pipeline=checkout-errors'), await offered('?pipeline=another')]).toEqual([
    true,
    true,
    false,
  ]);
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
