import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY_MS, WEEK_MS } from '../../analytics/window.ts';
import { HOUR_MS } from '../../runs/state/hourly.ts';
import { NOW, openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { closeDays } from './daily/close-days.ts';
import { runPercentiles } from './percentiles.ts';
import { packDays } from './uses/pack-days.ts';
import { runsOf } from './uses/read-runs.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const never = new AbortController().signal;
const LONG_AGO = NOW - 20 * DAY_MS;

/** A completed run with ten seconds of work, if not said otherwise; `waits` are questions to people, as hours from its start. */
async function addRun(
  n: number,
  {
    waits = [],
    seconds = 10,
    ...more
  }: {
    waits?: readonly (readonly [number, number])[];
    seconds?: number;
    pipeline_name?: string;
    parent_run_id?: string;
  },
): Promise<string> {
  const triggered_at = LONG_AGO + n * 1000;
  const hours = Math.max(0, ...waits.map(([, to]) => to));
  const values = {
    pipeline_name: 'asks',
    ...more,
    triggered_at,
    completed_at: triggered_at + seconds * 1000 + hours * HOUR_MS,
  };
  const id = await store.addRun(n, values);
  for (const [at, [from, to]] of waits.entries())
    await ask(
      `${id}-${at}`,
      id,
      [from, to].map((hour) => triggered_at + hour * HOUR_MS),
    );
  return id;
}

const ask = (id: string, run_id: string, [requested_at = 0, decided_at = 0]: number[]) =>
  store.database.write((tx) =>
    tx.db
      .insertInto('approvals')
      .values({
        id,
        run_id,
        requested_at,
        decided_at,
        step_name: 'approve',
        kind: 'step',
        pipeline_name: 'asks',
        team: null,
        stage: 'production',
        question: 'Restart?',
        fields: '[]',
        tool: null,
        status: 'approved',
        expires_at: NOW,
        decided_by: 'ada',
        comment: null,
        answers: null,
        required: 1,
        not_the_starter: 0,
        votes: null,
      })
      .execute(),
  );

const p95s = async (days: number, to: number | null = null) => {
  const window = { from: NOW - days * DAY_MS, to };
  const { pipeline: found } = await runPercentiles(store.database.db, { window, stages: ['production'] }, ['pipeline']);
  return Object.fromEntries(
    found.map(({ of, seconds, machineSeconds, waitingSeconds }) => [of, [seconds, machineSeconds, waitingSeconds]]),
  );
};
const nearly = (found: Record<string, (number | null)[]>) =>
  Object.fromEntries(
    Object.entries(found).map(([of, all]) => [
      of,
      all.map((seconds) => seconds && Number((seconds / 3600).toFixed(1))),
    ]),
  );

test('the time in which people were asked is apart from machine time, also in the sums of closed days', async () => {
  await addRun(1, { waits: [[0, 3]] });
  await addRun(2, {});
  // Questions that are open at the same time count once.
  await addRun(3, {
    waits: [
      [0, 1],
      [0.5, 2],
      [1, 1.5],
    ],
    pipeline_name: 'twice',
  });
  await addRun(4, { pipeline_name: 'quick' });
  const exact = { asks: [10_810, 10, 10_800], twice: [7_210, 10, 7_200], quick: [10, 10, null] };
  expect(await p95s(30)).toEqual(exact);
  expect(await closeDays({ database: store.database, now: NOW, signal: never })).toBe(1);
  expect(nearly(await p95s(30))).toEqual({ asks: [3, 0, 3], twice: [2, 0, 2], quick: [0, 0, null] });
  const [machine] = Object.values(await p95s(30)).map(([, seconds]) => seconds);
  expect(Math.abs(machine! - 10)).toBeLessThan(0.1);
});

test('in the sum of a week machine time is that of all its days, also of those in which nobody was asked', async () => {
  const week = LONG_AGO - (LONG_AGO % WEEK_MS) + WEEK_MS;
  const at = (day: number) => (week + day * DAY_MS - LONG_AGO) / 1000;
  await addRun(at(0), { waits: [[0, 3]] });
  await addRun(at(5), { seconds: 600 });
  await addRun(at(7), { pipeline_name: 'next-week' });
  expect(await closeDays({ database: store.database, now: NOW, signal: never })).toBe(3);
  await store.database.write((tx) =>
    tx.db
      .deleteFrom('daily_durations')
      .where('day', '<', week + WEEK_MS)
      .execute(),
  );
  expect((await p95s(30))['asks']?.map((seconds) => Math.round((seconds ?? 0) / 60))).toEqual([180, 10, 180]);
});

test('a question counts for the window of its run, however late it is asked', async () => {
  await addRun(1, { waits: [[71, 72]] });
  await addRun(2, { waits: [[0, 1]], pipeline_name: 'other' });
  expect(await p95s(21, LONG_AGO + 1_500)).toEqual({ asks: [259_210, 255_610, 3_600] });
  expect(await p95s(21, LONG_AGO + 500)).toEqual({});
});

test('a run that waits for one that it started waits for the people whom that one asks', async () => {
  const parent = await addRun(1, { waits: [[0, 0]], pipeline_name: 'parent' });
  const child = await addRun(2, { waits: [[0, 2]], pipeline_name: 'child', parent_run_id: parent });
  await store.database.write((tx) =>
    tx.db
      .updateTable('runs')
      .set({ completed_at: LONG_AGO + 2 * HOUR_MS + 20_000 })
      .where('id', '=', parent)
      .execute(),
  );
  await addRun(3, { pipeline_name: 'grandchild', parent_run_id: child, waits: [[0.5, 1]] });
  expect(await p95s(30)).toEqual({
    parent: [7_219, 19, 7_200],
    child: [7_210, 10, 7_200],
    grandchild: [3_610, 1_810, 1_800],
  });
});

test('the runs that had an agent have their waiting apart, from rows and from packed days', async () => {
  const asked = [
    await addRun(1, { waits: [[0, 3]] }),
    await addRun(2, {}),
    await addRun(3, { pipeline_name: 'quick' }),
  ];
  for (const id of asked) await store.addStep(id, 'look', { agent: 'reader', started_at: LONG_AGO + 5_000 });
  await addRun(4, { waits: [[0, 9]] });
  const ofReader = async () => {
    const window = { from: NOW - 30 * DAY_MS, to: null };
    const runs = await runsOf(store.database.db, { window, stages: ['production'], agent: 'reader' });
    return runs.percentiles('pipeline').toSorted((a, b) => (a.of < b.of ? -1 : 1));
  };
  const [asks, quick] = await ofReader();
  expect([asks, quick]).toEqual([
    { of: 'asks', seconds: 10_810, machineSeconds: 10, waitingSeconds: 10_800 },
    { of: 'quick', seconds: 10, machineSeconds: 10, waitingSeconds: null },
  ]);
  await closeDays({ database: store.database, now: NOW, signal: never });
  expect(await packDays({ database: store.database, signal: never })).toBe(1);
  const near = (ms: number) => expect.closeTo(ms, -2);
  expect(await ofReader()).toEqual([
    { of: 'asks', seconds: near(10_810), machineSeconds: expect.closeTo(10, 0), waitingSeconds: near(10_800) },
    { of: 'quick', seconds: expect.closeTo(10, 0), machineSeconds: expect.closeTo(10, 0), waitingSeconds: null },
  ]);
});
