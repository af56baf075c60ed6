import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestStore, runIdOf, type TestStore } from '../../../web/fixtures/store.ts';
import type { RunEvent } from '../../../runs/state/model.ts';
import { appendEvents } from '../event-writes.ts';
import { runDetail } from '../run-detail.ts';
import { searchAll } from '../search/search-job.ts';
import { readEvents } from './run-bodies.ts';

const QUIET = { info: () => undefined, warn: () => undefined };
const LONG = { labels: { alertname: 'DiskFull' }, annotations: { text: 'é "quoted" '.repeat(200) }, metadata: {} };
const RAW = { alerts: [{ status: 'firing', text: 'x'.repeat(900) }] };
const event = (seq: number) =>
  ({ seq, ts: seq, type: 'log', step: null, message: `line ${seq}` }) as unknown as RunEvent;

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
  const texts = { context: JSON.stringify(LONG), raw: JSON.stringify(RAW) };
  await store.addRun(1, texts);
  await store.addRun(2, { ...texts, status: 'running', completed_at: null });
  await store.addRun(3, { context: '{"labels":{}}', raw: null });
  await store.addRun(4, { context: JSON.stringify(LONG), raw: null });
  await events(1, [[1, 2], [3], [4, 5, 6]]);
  await events(2, [[1, 2], [3]]);
  await events(4, [[1]]);
});
afterAll(() => store.close());

const events = (run: number, rows: number[][]) =>
  store.database.write(async (tx) => {
    for (const [first = 0, ...others] of rows) {
      const json = JSON.stringify([first, ...others].map(event));
      await appendEvents(tx, runIdOf(run), { firstSeq: first, json });
    }
  });

/** What a reader sees of every run. */
const seen = () =>
  Promise.all(
    [1, 2, 3, 4].map(async (n) => {
      const detail = await runDetail(store.database.db, runIdOf(n), { raw: true });
      return {
        context: detail?.context,
        raw: detail?.raw,
        events: await readEvents(store.database.db, runIdOf(n), 0),
        later: await readEvents(store.database.db, runIdOf(n), 3),
      };
    }),
  );

test('a run reads the same before and after its texts were packed, and a live one keeps them', async () => {
  const { database } = store;
  const before = await seen();
  expect(before[0]).toMatchObject({ context: LONG, raw: RAW, events: [1, 2, 3, 4, 5, 6].map(event) });
  expect(before[0]?.later).toEqual([4, 5, 6].map(event));
  await searchAll({ database, upTo: 4, log: QUIET });
  expect(await seen()).toEqual(before);
  const rows = await database.db.selectFrom('runs').select(['seq', 'context', 'raw']).orderBy('seq').execute();
  expect(rows.map(({ context }) => context === '{}')).toEqual([true, false, false, true]);
  expect(rows[0]?.raw).toBeNull();
  const bodies = await database.db.selectFrom('run_bodies').selectAll().orderBy('seq').execute();
  expect(bodies.map(({ seq }) => seq)).toEqual([1, 4]);
  expect(bodies[0]?.body.length).toBeLessThan(600);
});

test('a message that is sent after the end of a packed run adds its line, and removing the run removes its body', async () => {
  const { database } = store;
  await events(1, [[7]]);
  expect((await readEvents(database.db, runIdOf(1), 0)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  const left = await database.db.selectFrom('run_events').select('events').where('run_id', '=', runIdOf(1)).execute();
  expect(left.map((row) => (JSON.parse(row.events) as RunEvent[]).map(({ seq }) => seq))).toEqual([[6], [7]]);
  await database.write((tx) => tx.db.deleteFrom('runs').where('id', '=', runIdOf(1)).execute());
  expect(await database.db.selectFrom('run_bodies').select('seq').execute()).toEqual([{ seq: 4 }]);
});
