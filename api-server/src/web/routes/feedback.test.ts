import { afterEach, beforeEach, expect, test } from 'vitest';
import { readCounters } from '../../store/db/counters.ts';
import { as, startTestServer, type TestServer } from '../fixtures/server.ts';
import { runIdOf } from '../fixtures/store.ts';

let server: TestServer;
const RUN = runIdOf(1);
beforeEach(async () => {
  server = await startTestServer();
  await server.store.addRun(1);
  await server.store.addStep(RUN, 'look/1');
});
afterEach(() => server.close());

const mark = (path: string, payload: object) =>
  server.app.inject({ method: 'POST', url: `/runs/${path}/feedback`, payload, headers: as('operator') });
const read = async (path: string) =>
  (await server.app.inject({ url: `/runs/${path}/feedback`, headers: as('viewer') })).json();
const counters = async () =>
  Object.fromEntries(
    (await readCounters(server.store.database.db)).map(({ metric, labels, value }) => [
      `${metric} ${labels.join('|')}`,
      value,
    ]),
  );

test('a mark is kept, and a second one overwrites outcome and notes', async () => {
  expect(await read(RUN)).toEqual({ feedback: null });
  const first = await mark(RUN, { outcome: 'correct', notes: 'as I would' });
  expect(first.statusCode).toBe(200);
  expect(first.json()).toEqual({
    run_id: RUN,
    outcome: 'correct',
    notes: 'as I would',
    submitted_at: '2026-11-21T12:00:00.000Z',
    submitted_by: 'the-operator',
  });
  await mark(RUN, { outcome: 'partial' });
  expect(await read(RUN)).toEqual({
    feedback: {
      run_id: RUN,
      outcome: 'partial',
      notes: null,
      submitted_at: '2026-11-21T12:00:00.000Z',
      submitted_by: 'the-operator',
    },
  });
});

test('every mark is audited with what it overwrites, the refused ones are not', async () => {
  await mark(RUN, { outcome: 'correct' });
  await mark(RUN, { outcome: 'incorrect' });
  await mark(`${RUN}/steps/look%2F1`, { outcome: 'partial' });
  await mark(runIdOf(9), { outcome: 'partial' });
  const { rows } = (await server.app.inject({ url: `/audit?action=mark`, headers: as('admin') })).json();
  const seen = rows.map((row: Record<string, unknown>) => [
    row['actor'],
    row['target_type'],
    row['target'],
    row['outcome'],
  ]);
  expect(seen.toReversed()).toEqual([
    ['the-operator', 'run', RUN, 'correct'],
    ['the-operator', 'run', RUN, 'incorrect, was correct'],
    ['the-operator', 'step', 'look/1', 'partial'],
  ]);
  expect(rows.every((row: Record<string, unknown>) => row['run_id'] === RUN && row['role'] === 'operator')).toBe(true);
});

test.each(['look/1', 'look%2F1', 'look%2f1'])('a step is reached as %s', async (name) => {
  expect((await mark(`${RUN}/steps/${name}`, { outcome: 'incorrect' })).json()).toMatchObject({
    run_id: RUN,
    step_name: 'look/1',
    outcome: 'incorrect',
  });
  expect(await read(`${RUN}/steps/${name}`)).toMatchObject({ feedback: { step_name: 'look/1', outcome: 'incorrect' } });
  const run = (await server.app.inject({ url: `/runs/${RUN}`, headers: as('viewer') })).json();
  expect(run.steps[0].feedback).toMatchObject({ outcome: 'incorrect' });
});

test('a step may itself be named feedback', async () => {
  await server.store.addStep(RUN, 'feedback');
  expect((await mark(`${RUN}/steps/feedback`, { outcome: 'correct' })).json()).toMatchObject({ step_name: 'feedback' });
});

test('roll-ups count each mark once, under the last outcome', async () => {
  await mark(RUN, { outcome: 'correct' });
  await mark(RUN, { outcome: 'correct', notes: 'again' });
  await mark(RUN, { outcome: 'incorrect' });
  await mark(`${RUN}/steps/look/1`, { outcome: 'partial' });
  await mark(`${RUN}/steps/look/1`, { outcome: 'correct' });
  const who = 'step_feedback_total checkout|look|investigator|demo/scripted|demo';
  expect(await counters()).toEqual({
    'pipeline_feedback_total checkout|correct': 0,
    'pipeline_feedback_total checkout|incorrect': 1,
    [`${who}|partial`]: 0,
    [`${who}|correct`]: 1,
  });
});

test('models beyond the bound count as other, and a mark that is withdrawn leaves the same series', async () => {
  for (const n of [11, 12, 13]) {
    await server.store.addRun(n);
    await server.store.addStep(runIdOf(n), 'look', { model: `m${n}` });
    await mark(`${runIdOf(n)}/steps/look`, { outcome: 'correct' });
  }
  const series = (model: string) => `step_feedback_total checkout|look|investigator|${model}|demo|correct`;
  expect(await counters()).toEqual({ [series('m11')]: 1, [series('m12')]: 1, [series('other')]: 1 });
  const url = `/runs/${runIdOf(13)}/steps/look/feedback`;
  expect((await server.app.inject({ method: 'DELETE', url, headers: as('operator') })).statusCode).toBe(200);
  expect(await counters()).toMatchObject({ [series('other')]: 0 });
});

test('marks of a testing run count nowhere', async () => {
  await server.store.addRun(2, { stage: 'testing' });
  await server.store.addStep(runIdOf(2), 'look', { stage: 'testing' });
  expect((await mark(runIdOf(2), { outcome: 'correct' })).statusCode).toBe(200);
  expect((await mark(`${runIdOf(2)}/steps/look`, { outcome: 'correct' })).statusCode).toBe(200);
  expect(await counters()).toEqual({});
});

test('a running run can be marked, a running step has no result to judge', async () => {
  await server.store.addRun(3, { status: 'running', completed_at: null });
  await server.store.addStep(runIdOf(3), 'look', { status: 'running', completed_at: null });
  expect((await mark(runIdOf(3), { outcome: 'correct' })).statusCode).toBe(200);
  const refused = await mark(`${runIdOf(3)}/steps/look`, { outcome: 'correct' });
  expect(refused.statusCode).toBe(409);
  expect(refused.json()).toMatchObject({ detail: { type: 'conflict' } });
});

test('unknown runs and steps are not found', async () => {
  for (const path of [runIdOf(9), `${runIdOf(9)}/steps/look`, `${RUN}/steps/none`]) {
    expect((await mark(path, { outcome: 'correct' })).json()).toMatchObject({ detail: { type: 'not_found' } });
    expect(await read(path)).toMatchObject({ detail: { type: 'not_found' } });
  }
});
