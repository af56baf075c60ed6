import { afterEach, beforeEach, expect, test } from 'vitest';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { runIdOf } from '../fixtures/store.ts';

let server: TestServer;
const [RUN, COMPLETED, UNKNOWN] = [runIdOf(1), runIdOf(2), runIdOf(3)];
const AT = '2026-11-21T12:00:00.000Z';

beforeEach(async () => {
  server = await startTestServer();
  await server.store.addRun(1, { status: 'escalated' });
  await server.store.addRun(2);
});
afterEach(() => server.close());

const post = (action: string, payload: object | undefined = {}, run = RUN) =>
  server.app.inject({ method: 'POST', url: `/runs/${run}/${action}`, payload, headers: as('operator') });
const get = async (url: string) => (await server.app.inject({ url, headers: as('admin') })).json();
const listed = async (attention: string) =>
  (await get(`/runs?attention=${attention}`)).runs.map(({ id }: { id: string }) => id);

test('an escalation is acknowledged, given to somebody, resolved and opened again', async () => {
  expect(await get(`/runs/${RUN}`)).toMatchObject({ attention: 'open', assignee: null });
  const first = await post('acknowledge');
  expect(first.statusCode).toBe(200);
  expect(first.json()).toEqual({
    run_id: RUN,
    attention: 'acknowledged',
    assignee: 'the-operator',
    attention_note: null,
    acknowledged_at: AT,
    acknowledged_by: 'the-operator',
    resolved_at: null,
    resolved_by: null,
    resolution: null,
  });
  expect((await post('acknowledge', { assignee: 'ana', note: 'the pool' })).json()).toMatchObject({
    assignee: 'ana',
    attention_note: 'the pool',
    acknowledged_by: 'the-operator',
  });
  expect(await listed('acknowledged')).toEqual([RUN]);
  expect((await post('resolve', { resolution: 'false_alarm' })).json()).toMatchObject({
    attention: 'resolved',
    assignee: 'ana',
    attention_note: 'the pool',
    resolution: 'false_alarm',
    resolved_by: 'the-operator',
    resolved_at: AT,
  });
  expect([await listed('open'), await listed('open,resolved')]).toEqual([[], [RUN]]);
  expect((await post('reopen', { note: 'it is back' })).json()).toMatchObject({
    attention: 'open',
    assignee: 'ana',
    attention_note: 'it is back',
    acknowledged_at: null,
    resolution: null,
  });
  expect(await get(`/runs/${RUN}`)).toMatchObject({ attention: 'open', attention_note: 'it is back' });
  const { rows } = await get(`/audit?target=${RUN}`);
  expect(rows.map(({ action, outcome }: Record<string, string>) => [action, outcome]).toReversed()).toEqual([
    ['acknowledge', 'acknowledged, assigned to the-operator'],
    ['acknowledge', 'acknowledged, assigned to ana'],
    ['resolve', 'resolved, false_alarm'],
    ['reopen', 'open'],
  ]);
});

test('an open run may be resolved at once, a resolved one neither again nor acknowledged, an open one not reopened', async () => {
  expect((await post('reopen')).statusCode).toBe(409);
  expect((await post('resolve', { resolution: 'handled' })).statusCode).toBe(200);
  for (const refused of [await post('resolve', { resolution: 'handled' }), await post('acknowledge')]) {
    expect(refused.statusCode).toBe(409);
    expect(refused.json()).toMatchObject({ detail: { type: 'conflict' } });
  }
});

test('a run that needs nobody is a conflict, an unknown one is not found', async () => {
  const refused = await post('acknowledge', {}, COMPLETED);
  expect(refused.statusCode).toBe(409);
  expect(refused.json().detail.message).toBe('the run needs nobody: it is a production run with the status completed');
  expect((await post('resolve', { resolution: 'handled' }, UNKNOWN)).statusCode).toBe(404);
  expect((await get(`/runs/${COMPLETED}`)).attention).toBeNull();
});

test.each([
  ['resolve', {}],
  ['resolve', { resolution: 'gone' }],
  ['resolve', { resolution: 'handled', assignee: 'ana' }],
  ['acknowledge', { assignee: '' }],
  ['acknowledge', { assignee: 'a\nb' }],
  ['acknowledge', { note: 'a\0b' }],
  ['reopen', { note: 'x'.repeat(10_001) }],
])('%s with %j is refused and changes nothing', async (action, body) => {
  expect((await post(action, body)).statusCode).toBe(400);
  expect(await get(`/runs/${RUN}`)).toMatchObject({ attention: 'open', assignee: null, attention_note: null });
});
