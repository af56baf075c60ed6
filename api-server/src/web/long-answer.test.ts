import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunDetail as View, RunDetail, runDetailView } from '../service/views/run.ts';
import { type RunDetail as Stored, runDetail } from '../store/tables/run-detail.ts';
import { as, startTestServer, type TestServer } from './fixtures/server.ts';
import { runIdOf } from './fixtures/store.ts';
import { withSteps } from './long-answer.ts';

const MANY = 4000;

let server: TestServer;
let stored: Stored;
beforeAll(async () => {
  server = await startTestServer();
  const { addRun, addStep, database } = server.store;
  await addRun(1);
  await addStep(runIdOf(1), 'look', { output: '{"a":"“b”"}' });
  const found = (await runDetail(database.db, runIdOf(1), { raw: false }))!;
  stored = { ...found, steps: Array.from({ length: MANY }, () => found.steps[0]!) };
});
afterAll(() => server.close());

/** What it made, and how often other work had its turn. */
async function turnsOf<T>(work: () => T | Promise<T>): Promise<{ made: T; turns: number }> {
  let turns = 0;
  const tick = () => {
    turns += 1;
    timer = setImmediate(tick);
  };
  let timer = setImmediate(tick);
  const made = await work();
  clearImmediate(timer);
  return { made, turns };
}

test('what a run with many steps says is made and written in turns', async () => {
  const view = await turnsOf(() => runDetailView(stored, new Map()));
  expect(view.made.steps).toHaveLength(MANY);
  expect(view.turns).toBeGreaterThan(2);
  const types: string[] = [];
  const reply = { type: (type: string) => types.push(type) } as unknown as Parameters<typeof withSteps>[1];
  const answer = await turnsOf(() => withSteps<View>(view.made, reply));
  expect(JSON.parse(answer.made as string)).toEqual(JSON.parse(JSON.stringify(view.made)));
  expect(answer.turns).toBeGreaterThan(2);
  expect(types).toEqual(['application/json; charset=utf-8']);
});

test('the API answers a run with many steps as its schema says, alone and compared', async () => {
  await server.store.database.write(async ({ db }) => {
    const row = await db.selectFrom('step_executions').selectAll().executeTakeFirstOrThrow();
    const more = Array.from({ length: 600 }, (_, n) => ({ ...row, id: `more/${n}`, step_name: `look-${n}` }));
    for (let at = 0; at < more.length; at += 100)
      await db
        .insertInto('step_executions')
        .values(more.slice(at, at + 100))
        .execute();
  });
  const get = (url: string) => server.app.inject({ url, headers: as('viewer') });
  const run = await get(`/runs/${runIdOf(1)}`);
  expect([run.statusCode, run.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(RunDetail.parse(run.json()).steps).toHaveLength(601);
  const compared = await get(`/runs/${runIdOf(1)}/compare/${runIdOf(1)}`);
  expect(compared.json().steps).toHaveLength(601);
  expect(compared.headers['content-type']).toBe(run.headers['content-type']);
});
