import { afterEach, beforeEach, expect, test } from 'vitest';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { runIdOf } from '../fixtures/store.ts';

let server: TestServer;
const [OPEN, COMPLETED, UNKNOWN] = [runIdOf(1), runIdOf(2), runIdOf(3)];

beforeEach(async () => {
  server = await startTestServer();
  await server.store.addRun(1, { status: 'escalated' });
  await server.store.addRun(2);
});
afterEach(() => server.close());

const post = (payload: object) =>
  server.app.inject({ method: 'POST', url: '/runs/bulk', payload, headers: as('operator') });
const get = async (url: string) => (await server.app.inject({ url, headers: as('admin') })).json();

test('each run gets what the request for it alone would do, in the order asked for', async () => {
  const answer = await post({
    action: 'resolve',
    run_ids: [UNKNOWN, OPEN, COMPLETED, OPEN],
    resolution: 'false_alarm',
    note: 'a restart',
  });
  expect(answer.statusCode).toBe(200);
  expect(answer.json().results).toMatchObject([
    { run_id: UNKNOWN, ok: false, status_code: 404, detail: { type: 'not_found' } },
    { run_id: OPEN, ok: true, status_code: 200 },
    { run_id: COMPLETED, ok: false, status_code: 409, detail: { type: 'conflict' } },
    { run_id: OPEN, ok: false, status_code: 409, detail: { message: 'the run is resolved already, by the-operator' } },
  ]);
  expect(await get(`/runs/${OPEN}`)).toMatchObject({ resolution: 'false_alarm', attention_note: 'a restart' });
});

test('many runs are marked and acknowledged at once, each with its own audit row', async () => {
  await post({ action: 'mark', run_ids: [OPEN, COMPLETED], outcome: 'partial' });
  await post({ action: 'acknowledge', run_ids: [OPEN], assignee: 'ana' });
  expect(await get(`/runs/${OPEN}`)).toMatchObject({ feedback_outcome: 'partial', assignee: 'ana' });
  const { rows } = await get('/audit');
  expect(rows.map(({ action, target }: Record<string, string>) => [action, target]).toReversed()).toEqual([
    ['mark', OPEN],
    ['mark', COMPLETED],
    ['acknowledge', OPEN],
  ]);
});

test('a run whose pipeline is gone cannot run again', async () => {
  const { results } = (await post({ action: 'rerun', run_ids: [COMPLETED] })).json();
  expect(results).toMatchObject([{ ok: false, status_code: 400, detail: { type: 'validation' } }]);
});

test.each([
  ['no runs', { action: 'cancel', run_ids: [] }],
  ['more than 200', { action: 'cancel', run_ids: Array.from({ length: 201 }, () => OPEN) }],
  ['what is no id', { action: 'cancel', run_ids: ['../etc'] }],
  ['an unknown action', { action: 'delete', run_ids: [OPEN] }],
  ['a key that the action does not have', { action: 'cancel', run_ids: [OPEN], note: 'x' }],
  ['a resolution that there is not', { action: 'resolve', run_ids: [OPEN], resolution: 'gone' }],
])('%s is refused and changes nothing', async (_, body) => {
  expect((await post(body)).statusCode).toBe(400);
  expect(await get(`/runs/${OPEN}`)).toMatchObject({ attention: 'open' });
});
