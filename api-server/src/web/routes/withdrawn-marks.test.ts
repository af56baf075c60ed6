import { afterEach, beforeEach, expect, test } from 'vitest';
import { readCounters } from '../../store/db/counters.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { runIdOf } from '../fixtures/store.ts';

let server: TestServer;
const RUN = runIdOf(1);
beforeEach(async () => {
  server = await startTestServer();
  await server.store.addRun(1);
  await server.store.addStep(RUN, 'look');
});
afterEach(() => server.close());

type Call = { method: 'GET' | 'POST' | 'DELETE'; url: string; payload?: object };
const call = async ({ method, url, payload }: Call) => {
  const answer = await server.app.inject({ method, url, ...(payload && { payload }), headers: as('operator') });
  return { status: answer.statusCode, body: answer.json() };
};
const get = async (url: string) => (await call({ method: 'GET', url })).body;
const mark = (path: string, outcome: string) =>
  call({ method: 'POST', url: `/runs/${path}/feedback`, payload: { outcome } });
const withdraw = (path: string) => call({ method: 'DELETE', url: `/runs/${path}/feedback` });
const OF_STEP = `${RUN}/steps/look`;

/** All that marks move, but for the values of roll-ups that are back at zero. */
async function everyFigure() {
  const counters = await readCounters(server.store.database.db);
  return {
    pipeline: await get('/pipelines/checkout/stats'),
    step: await get('/steps/look/stats'),
    models: await get('/steps/look/models'),
    calibration: await get('/steps/look/calibration'),
    versions: await get('/steps/look/versions'),
    queue: await get('/marking'),
    run: await get(`/runs/${RUN}`),
    counters: counters.filter(({ value }) => value !== 0),
  };
}

test.each([
  ['run', RUN],
  ['step', OF_STEP],
])('after the mark of a %s is withdrawn every figure is what it was before it', async (_subject, path) => {
  const before = await everyFigure();
  await mark(path, 'partial');
  expect(await everyFigure()).not.toEqual(before);
  expect(await withdraw(path)).toMatchObject({ status: 200, body: { run_id: RUN, outcome: 'partial' } });
  expect(await everyFigure()).toEqual(before);
  expect(await get(`/runs/${path}/feedback`)).toEqual({ feedback: null });
});

test('without the mark of its step an execution is labelled by the mark of its run again', async () => {
  await mark(RUN, 'incorrect');
  await mark(OF_STEP, 'correct');
  await withdraw(OF_STEP);
  expect((await get('/steps/look/stats')).accuracy).toMatchObject({ correct: 0, incorrect: 1 });
});

test('a mark that is not there cannot be withdrawn, nor twice, and that is not audited', async () => {
  for (const path of [RUN, OF_STEP, runIdOf(9), `${RUN}/steps/none`])
    expect(await withdraw(path)).toMatchObject({ status: 404, body: { detail: { type: 'not_found' } } });
  await mark(RUN, 'correct');
  expect((await withdraw(RUN)).status).toBe(200);
  expect((await withdraw(RUN)).status).toBe(404);
  expect((await get('/audit?action=withdraw_mark')).rows).toMatchObject([
    { actor: 'the-operator', target_type: 'run', target: RUN, run_id: RUN, outcome: 'was correct' },
  ]);
});

test('a golden member keeps the label that it was pinned with', async () => {
  await mark(OF_STEP, 'correct');
  const payload = { name: 'checkout-set', step_name: 'look' };
  const { body: set } = await call({ method: 'POST', url: '/golden-sets', payload });
  const pinned = { run_id: RUN, step_name: 'look' };
  await call({ method: 'POST', url: `/golden-sets/${set.id}/members`, payload: pinned });
  await withdraw(OF_STEP);
  const { rows } = await get(`/golden-sets/${set.id}`);
  expect(rows).toMatchObject([{ outcome: 'correct', label: 1, current_outcome: null }]);
});

test('GET /marking: answers without a label with what one needs to judge them, filtered and limited', async () => {
  await server.store.addRun(2, { pipeline_name: 'disk', stage: 'testing' });
  await server.store.addStep(runIdOf(2), 'free', { pipeline_name: 'disk', stage: 'testing' });
  const { steps, more } = await get('/marking');
  expect([steps.map(({ step_name: name }: { step_name: string }) => name), more]).toEqual([['free', 'look'], false]);
  expect(steps[1]).toMatchObject({ run_id: RUN, summary: 'Database pool is exhausted', output: { action: 'restart' } });
  expect(await get('/marking?limit=1')).toMatchObject({ steps: [{ step_name: 'free' }], more: true });
  expect((await get('/marking?pipeline=disk&step=look')).steps).toEqual([]);
  expect((await get('/marking?stage=production')).steps).toMatchObject([{ step_name: 'look' }]);
  expect((await get('/marking?limit=201')).detail.type).toBe('validation');
});
