import { afterAll, beforeAll, expect, test } from 'vitest';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW } from '../fixtures/store.ts';

let server: TestServer;
const get = async (query: string) => server.app.inject({ url: `/runs?${query}`, headers: as('viewer') });
const ids = async (query: string) =>
  (await get(query)).json<{ runs: { id: string }[] }>().runs.map(({ id }) => Number(id.slice(-3)));

beforeAll(async () => {
  server = await startTestServer();
  const { addRun } = server.store;
  await addRun(1, { completed_at: NOW + 30_000, cost: 0.5, trust: 0.9 });
  await addRun(2, { completed_at: NOW + 10_000, cost: null, trust: 0.2 });
  await addRun(3, { completed_at: null, status: 'running', cost: null, trust: null });
  await addRun(4, { completed_at: NOW + 20_000, cost: 0.1, trust: 0.9, pipeline_name: 'disk' });
});
afterAll(() => server.close());

test.each([
  ['sort=age', [4, 3, 2, 1]],
  ['sort=-age', [1, 2, 3, 4]],
  ['sort=duration', [2, 4, 1, 3]],
  ['sort=-duration', [1, 4, 2, 3]],
  ['sort=cost', [4, 1, 3, 2]],
  ['sort=-cost', [1, 4, 3, 2]],
  ['sort=trust', [2, 4, 1, 3]],
  ['sort=-trust', [4, 1, 2, 3]],
  ['sort=-trust&limit=2&offset=1', [1, 2]],
  ['sort=-age&offset=3', [4]],
  ['sort=-duration&pipeline=disk', [4]],
  ['sort=cost&q=nothing', []],
])('%s: runs without the figure come last, of equal ones the newest first', async (query, expected) => {
  expect(await ids(query)).toEqual(expected);
});

test('only the order by age has a cursor', async () => {
  expect((await get('limit=2')).json()).toMatchObject({ next_cursor: expect.stringMatching(/^r\d+$/) });
  expect((await get('limit=2&sort=-cost')).json()).toMatchObject({ next_cursor: null, total: 4 });
  const refused = await get('sort=-cost&cursor=r3');
  expect([refused.statusCode, refused.json()]).toMatchObject([
    400,
    { detail: { errors: [{ loc: ['query', 'cursor'] }] } },
  ]);
});

test('an unknown order is refused with those that there are', async () => {
  const refused = await get('sort=colour');
  expect(refused.statusCode).toBe(400);
  expect(refused.body).toContain('-trust');
});
