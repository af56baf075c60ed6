import { afterEach, beforeEach, expect, test } from 'vitest';
import { as, SECRETS, startTestServer, type TestServer } from '../fixtures/server.ts';
import { NOW, runIdOf } from '../fixtures/store.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ deps: { cancel: () => Promise.resolve('cancelled') } });
  await server.store.database.write(async ({ db }) => {
    const row = {
      actor_kind: 'token',
      role: 'admin',
      run_id: null,
      prior_yaml: null,
      request_id: 'r-1',
      outcome: 'updated',
    };
    const rows = ['ada', 'bob', 'ada'].map((actor, n) => ({
      ...row,
      ts: NOW - 60_000 * (3 - n),
      actor,
      action: n === 0 ? 'delete' : 'update',
      target_type: n === 1 ? 'step' : 'pipeline',
      target: `t${n}`,
    }));
    await db.insertInto('audit').values(rows).execute();
  });
});
afterEach(() => server.close());

const get = async (query: string) =>
  (await server.app.inject({ url: `/audit?${query}`, headers: as('viewer') })).json<{
    rows: Record<string, unknown>[];
    limit: number;
    offset: number;
    total: number;
  }>();

test('a row has the fields of the contract, newest first', async () => {
  const { rows, ...page } = await get('');
  expect(page).toEqual({ limit: 50, offset: 0, total: 3 });
  expect(rows[0]).toEqual({
    id: 3,
    ts: '2026-11-21T11:59:00.000Z',
    actor: 'ada',
    actor_kind: 'token',
    role: 'admin',
    action: 'update',
    target_type: 'pipeline',
    target: 't2',
    run_id: null,
    outcome: 'updated',
    prior_yaml: null,
    request_id: 'r-1',
  });
});

test.each([
  ['actor=ada', [3, 1]],
  ['actor=ada&action=update', [3]],
  ['role=operator', []],
  ['target_type=step', [2]],
  ['target=t0', [1]],
  ['since=2026-11-21T11:58:00Z', [3, 2]],
  ['since=2026-11-21T11:58:00Z&until=2026-11-21T11:59:00Z', [2]],
])('%s finds %j', async (query, ids) => {
  const { rows, total } = await get(query);
  expect(rows.map(({ id }) => id)).toEqual(ids);
  expect(total).toBe(ids.length);
});

test('limit and offset cut a page out, total counts all', async () => {
  const { rows, ...page } = await get('limit=1&offset=1');
  expect([rows.map(({ id }) => id), page]).toEqual([[2], { limit: 1, offset: 1, total: 3 }]);
});

test('a cancelled run is in the log under who cancelled it, and no token is', async () => {
  const id = runIdOf(1);
  await server.app.inject({ method: 'POST', url: `/runs/${id}/cancel`, headers: as('operator') });
  const { rows } = await get('action=cancel');
  expect(rows).toMatchObject([{ actor: 'the-operator', role: 'operator', target_type: 'run', target: id, run_id: id }]);
  const text = JSON.stringify(await get(''));
  for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret);
});
