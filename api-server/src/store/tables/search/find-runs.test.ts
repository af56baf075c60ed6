import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestStore, runIdOf, type TestStore } from '../../../web/fixtures/store.ts';
import { listRuns } from '../list-runs.ts';
import { closeDays } from '../../aggregates/daily/close-days.ts';
import { pruneRuns } from '../prune.ts';
import { newestRun } from './index-runs.ts';
import type { PageOfRuns, RunFilter } from './run-filter.ts';
import { searchAll } from './search-job.ts';

const RUNS = 130;
const DAY_MS = 86_400_000;
const START = 20_000 * DAY_MS;
const QUIET = { info: () => undefined, warn: () => undefined };

let store: TestStore;
afterAll(() => store.close());

const pick = <T>(values: readonly T[], n: number): T => values[n % values.length] as T;
const NOT_ENDED = 'running';

/** Run `n`, from 1: every value comes with every other. */
const runOf = (n: number) => {
  const status = n % 11 === 0 ? NOT_ENDED : pick(['completed', 'failed', 'escalated'], n >> 3);
  const lasted = status === NOT_ENDED ? null : 1000 * (1 + (n % 4));
  const waiting = status === NOT_ENDED && n % 2 === 0;
  return { ...valuesOf(n), status, lasted, waiting, open: status === 'failed' || status === 'escalated' };
};
const valuesOf = (n: number) => ({
  n,
  pipeline: pick(['checkout', 'disk', 'node'], n),
  team: pick(['infra', 'shop', null], n >> 1),
  severity: pick(['critical', 'warning'], n >> 2),
  alert: pick(['KubePodCrashLooping', 'DiskFull'], n >> 4),
  summary: `Host h${n % 7} of zone ${pick(['east', 'west'], n)} says "it's" 50% full`,
  agent: pick(['finder', 'fixer', null], n),
  warnings: n % 5 === 0 ? 1 : 0,
  // Out of order now and then, as clocks of several hosts are.
  triggered: START + n * 3_600_000 * (n % 13 === 0 ? 0.5 : 1),
});
type RunOf = ReturnType<typeof runOf>;

const BATCH = { kind: 'step', step_name: 'look', descriptor: '{}', launch_key: null, launch_hash: null };

beforeAll(async () => {
  store = await openTestStore();
  const { database } = store;
  for (let n = 1; n <= RUNS; n += 1) {
    const run = runOf(n);
    const id = await store.addRun(n, {
      pipeline_name: run.pipeline,
      team: run.team,
      severity: run.severity,
      status: run.status,
      summary: run.summary,
      warning_count: run.warnings,
      waiting_on: run.waiting ? 'human' : null,
      triggered_at: run.triggered,
      completed_at: run.lasted === null ? null : run.triggered + run.lasted,
      context: JSON.stringify({ labels: { alertname: run.alert, zone: pick(['east', 'west'], n) } }),
    });
    if (n === 5)
      await database.write(({ db }) =>
        db
          .insertInto('replays')
          .values({ ...BATCH, run_id: id })
          .execute(),
      );
    if (run.agent !== null) await store.addStep(id, 'look', { agent: run.agent, model: `${run.agent}/m` });
  }
});

/** What each filter means, said once more without SQL. */
const CASES: [RunFilter, (run: RunOf) => boolean][] = [
  [{}, () => true],
  [{ team: 'infra' }, ({ team }) => team === 'infra'],
  [{ team: 'infra', severity: 'critical' }, ({ team, severity }) => team === 'infra' && severity === 'critical'],
  [{ teamless: true }, ({ team }) => team === null],
  [{ teamless: false, status: ['failed'] }, ({ team, status }) => team !== null && status === 'failed'],
  [
    { teamless: true, q: 'west', since: START + DAY_MS },
    ({ team, n, triggered }) => team === null && n % 2 === 1 && triggered >= START + DAY_MS,
  ],
  [{ status: ['failed', 'running'] }, ({ status }) => status === 'failed' || status === 'running'],
  [{ status: ['failed'], pipeline: 'disk' }, ({ status, pipeline }) => status === 'failed' && pipeline === 'disk'],
  [{ agent: 'finder' }, ({ agent }) => agent === 'finder'],
  [{ model: 'fixer/m', team: 'shop' }, ({ agent, team }) => agent === 'fixer' && team === 'shop'],
  [{ labels: [{ key: 'alertname', value: 'DiskFull' }] }, ({ alert }) => alert === 'DiskFull'],
  [{ labels: [{ key: 'zone', value: 'alertname' }] }, () => false],
  [{ q: 'crash' }, ({ alert }) => alert === 'KubePodCrashLooping'],
  [{ q: 'diskf h3', team: 'shop' }, ({ alert, n, team }) => alert === 'DiskFull' && n % 7 === 3 && team === 'shop'],
  [{ q: "it's 50% FULL" }, () => true],
  [{ q: runIdOf(7) }, ({ n }) => n === 7],
  [{ q: '"""' }, () => false],
  [{ warnings: true }, ({ warnings }) => warnings > 0],
  [{ warnings: false, q: 'west' }, ({ warnings, n }) => warnings === 0 && n % 2 === 1],
  [{ replay: true }, ({ n }) => n === 5],
  [{ replay: false, team: 'infra' }, ({ n, team }) => n !== 5 && team === 'infra'],
  [{ since: START + 2 * DAY_MS }, ({ triggered }) => triggered >= START + 2 * DAY_MS],
  [{ until: START + DAY_MS }, ({ triggered }) => triggered < START + DAY_MS],
  [
    { since: START + DAY_MS, until: START + 2 * DAY_MS, agent: 'finder' },
    ({ triggered, agent }) => triggered >= START + DAY_MS && triggered < START + 2 * DAY_MS && agent === 'finder',
  ],
  [{ since: START + 900 * DAY_MS, team: 'infra' }, () => false],
  [{ until: START - 900 * DAY_MS, team: 'infra' }, () => false],
  [{ status: ['running'], waiting: true, replay: false }, ({ waiting }) => waiting],
  [{ status: ['running'], waiting: false }, ({ status, waiting }) => status === 'running' && !waiting],
  [{ waiting: false }, ({ waiting }) => !waiting],
  [{ attention: ['open'], team: 'infra' }, ({ open, team }) => open && team === 'infra'],
];

const numbersOf = (runs: readonly { id: string }[]) => runs.map(({ id }) => Number(id.slice(-4)));

/** The longest first, those without an end last, and of equal ones the newest first. */
const byDuration = (a: RunOf, b: RunOf) => (b.lasted ?? -Infinity) - (a.lasted ?? -Infinity) || b.n - a.n;

async function compare(runs: readonly RunOf[]): Promise<void> {
  for (const [filter, is] of CASES) {
    const expected = runs.filter(is).map(({ n }) => n);
    const all = expected.toReversed();
    const longest = runs.filter(is).toSorted(byDuration);
    const pages: [PageOfRuns, number[]][] = [
      [{ limit: 200, offset: 0 }, all],
      [{ limit: 7, offset: 0 }, all.slice(0, 7)],
      [{ limit: 5, offset: 9 }, all.slice(9, 14)],
      [{ limit: 5, offset: 40 }, all.slice(40, 45)],
      [{ limit: 6, offset: 3, order: '-age' }, expected.slice(3, 9)],
      [{ limit: 6, offset: 3, order: '-duration' }, longest.slice(3, 9).map(({ n }) => n)],
      [{ limit: 9, offset: 0, before: 61 }, all.filter((n) => n < 61).slice(0, 9)],
    ];
    for (const [page, shown] of pages) {
      const list = await listRuns(store.database.db, filter, page);
      expect({ filter, page, runs: numbersOf(list.runs), total: list.total }).toEqual({
        filter,
        page,
        runs: shown,
        total: expected.length,
      });
    }
  }
}

test('lists are the same while the search knows no run, some of them, all of them, and after a removal', async () => {
  const { database } = store;
  let runs = Array.from({ length: RUNS }, (_, at) => runOf(at + 1));
  await compare(runs);
  await searchAll({ database, upTo: 70, log: QUIET });
  await compare(runs);
  await searchAll({ database, upTo: await newestRun(database.db), log: QUIET });
  await compare(runs);
  expect(await database.db.selectFrom('unsearched').selectAll().execute()).toHaveLength(11);
  const ended = { status: 'failed', completed_at: START, waiting_on: null };
  const live = [11, 22, 33];
  await database.write(({ db }) => db.updateTable('runs').set(ended).where('seq', 'in', live).execute());
  runs = runs.map((run) =>
    live.includes(run.n) ? { ...run, status: 'failed', waiting: false, lasted: START - run.triggered } : run,
  );
  await compare(runs);
  await searchAll({ database, upTo: RUNS, log: QUIET });
  await compare(runs);
  // Nothing is done twice.
  await searchAll({ database, upTo: RUNS, log: QUIET });
  await closeDays({ database, now: START + 2 * DAY_MS, signal: new AbortController().signal });
  await pruneRuns(database, 1, START + 2 * DAY_MS);
  const left = numbersOf((await listRuns(database.db, {}, { limit: 200, offset: 0 })).runs);
  expect(left.length).toBeLessThan(RUNS - 10);
  await compare(runs.filter(({ n }) => left.includes(n)));
  const terms = await database.db.selectFrom('run_search').select('rowid').execute();
  expect(terms).toHaveLength(left.length - 8);
});
