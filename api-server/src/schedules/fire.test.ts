import { createCompute } from '@signalbox/crds/process/compute';
import { compileMatch, resolveSet, type Tenant } from '@signalbox/crds';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LoadedPipeline } from '../definitions/snapshot.ts';
import { newId } from '../runs/state/ids.ts';
import { createConcurrencyGroups, concurrencyGroupOf } from '../runs/run/concurrency-groups.ts';
import type { NewRun } from '../runs/state/new-run.ts';
import { createTemplates } from '../runs/prompt/templates.ts';
import type { Database, Tx } from '../store/db/database.ts';
import { newTestDatabase, type TestDatabase } from '../store/fixtures/test-database.ts';
import { listRuns } from '../store/tables/list-runs.ts';
import { insertRun, keepDefinition } from '../store/tables/run-writes.ts';
import { missedFires, pruneFires, takeFire, takeMissed } from '../store/tables/schedules.ts';
import { fire, type FireDeps } from './fire.ts';

const DAY = 86_400_000;
const AT = Date.parse('2026-11-23T06:00:00Z');
let site: TestDatabase;
let database: Database;
let begun: NewRun[];

beforeEach(async () => {
  site = await newTestDatabase();
  database = await site.open({ now: () => AT });
  begun = [];
});
afterEach(async () => {
  await database.close();
  await site.remove();
});

function deps(over: Partial<FireDeps<Tx>> = {}): FireDeps<Tx> {
  const templates = createTemplates({ sandbox: true, compute: createCompute({ timeoutMs: 1000 }) });
  return {
    write: (job) => database.write(job),
    takeFire,
    keepDefinition: (tx, { hash, name, config }) =>
      keepDefinition(tx, { hash, kind: 'Pipeline', name, body: JSON.stringify(config), stored_at: 1 }),
    insertRun,
    isFull: () => false,
    concurrencyGroups: createConcurrencyGroups(),
    concurrencyGroupOf: (of, context) => concurrencyGroupOf(templates, { pipeline: of.config, context, team: null }),
    now: () => AT + 250,
    newId,
    begin: (run) => void begun.push(run),
    ...over,
  };
}

function pipeline(more = ''): LoadedPipeline {
  const schedule =
    'schedule: {cron: "0 6 * * *", summary: Morning sweep, severity: info, labels: {service: shop}, team: payments}';
  const text = `name: sweep\n${schedule}\n${more}\nsteps: [{name: one, executor: gateway, agent: a, prompt_template: hi}]`;
  const [found] = resolveSet({ pipelines: [{ file: 'p.yaml', text }], steps: [] }).pipelines;
  if (!found) throw new Error('the pipeline of the test is not valid');
  return { ...found, match: compileMatch({}) };
}
const stored = async () => (await listRuns(database.db, {}, { limit: 50, offset: 0 })).runs;

test('a scheduled run has the team, summary, severity and labels of its schedule block', async () => {
  const fired = await fire(deps(), pipeline(), AT);
  expect(await stored()).toMatchObject([
    {
      source: 'schedule',
      team: 'payments',
      summary: 'Morning sweep',
      severity: 'info',
      status: 'queued',
      stage: 'testing',
    },
  ]);
  expect(begun).toMatchObject([
    { context: { labels: { service: 'shop' }, metadata: { scheduled_for: '2026-11-23T06:00:00.000Z' } } },
  ]);
  expect(fired).toEqual({ started: true, runId: begun[0]?.id });
});

test('a fire whose definition may not be stored starts a run of what may be', async () => {
  const short = { ...pipeline('description: short'), hash: 'short' };
  await fire(deps({ storable: () => short }), pipeline(), AT);
  expect(await stored()).toMatchObject([{ definitionHash: 'short' }]);
  expect(begun).toMatchObject([{ pipeline: { hash: 'short' } }]);
});

test('of sixteen who fire the same time at once, one starts a run', async () => {
  const shared = deps();
  const fired = await Promise.all(Array.from({ length: 16 }, () => fire(shared, pipeline(), AT)));
  expect(fired.filter(({ started }) => started)).toHaveLength(1);
  expect(fired).toContainEqual({ started: false, reason: 'taken' });
  expect(await stored()).toHaveLength(1);
  expect(begun).toHaveLength(1);
});

test('after a restart a fire that was taken stays taken, the next one does not', async () => {
  await fire(deps(), pipeline(), AT);
  await database.close();
  database = await site.open({ now: () => AT });
  expect((await fire(deps(), pipeline(), AT)).started).toBe(false);
  expect((await fire(deps(), pipeline(), AT + 86_400_000)).started).toBe(true);
});

test('a fire that was missed because the clock was ahead starts once its time has come', async () => {
  const ahead = AT + 10 * 3_600_000;
  await database.write((tx) => takeMissed(tx, { pipeline: 'sweep', fires: [AT], now: ahead }));
  expect(await fire(deps({ now: () => ahead + 250 }), pipeline(), AT)).toEqual({ started: false, reason: 'taken' });
  expect((await fire(deps(), pipeline(), AT)).started).toBe(true);
  expect(await fire(deps(), pipeline(), AT)).toEqual({ started: false, reason: 'taken' });
  expect(await missedFires(database.db)).toEqual([]);
});

test('a fire whose run cannot be stored is not taken', async () => {
  const broken = deps({ insertRun: () => Promise.reject(new Error('disk')) });
  await expect(fire(broken, pipeline(), AT)).rejects.toThrow('disk');
  expect(begun).toEqual([]);
  expect((await fire(deps(), pipeline(), AT)).started).toBe(true);
});

test('a suspended pipeline does not run by the clock', async () => {
  expect(await fire(deps(), pipeline('suspend: true'), AT)).toEqual({ started: false, reason: 'suspended' });
  expect(await stored()).toEqual([]);
});

test('a full limit that rejects uses the fire up; one that queues waits', async () => {
  const shared = deps();
  const rejecting = pipeline('concurrency: {limit: 1, on_limit: reject}');
  expect((await fire(shared, rejecting, AT)).started).toBe(true);
  expect(await fire(shared, rejecting, AT + 60_000)).toEqual({ started: false, reason: 'limit' });
  expect(await fire(shared, rejecting, AT + 60_000)).toEqual({ started: false, reason: 'taken' });
  expect((await fire(shared, pipeline('concurrency: {limit: 1, on_limit: queue}'), AT + 120_000)).started).toBe(true);
});

test('a fire uses itself up where the runs that have not ended leave no memory for its namespace', async () => {
  const standing = { namespace: 'shop', admitted: true, tenant: {} };
  const full = deps({ isFull: (namespace) => namespace === 'shop' });
  expect(await fire(full, { ...pipeline(), standing }, AT)).toEqual({ started: false, reason: 'limit' });
  expect((await fire(full, pipeline(), AT + 60_000)).started).toBe(true);
  expect(await stored()).toHaveLength(1);
});

test.each<[string, string, Tenant | null, string | null]>([
  ['a tenant does not choose', 'no team', {}, null],
  ['a namespace without limits chooses', 'its team', null, 'payments'],
])('the schedule of %s who approves: its run has %s', async (_, _team, tenant, team) => {
  await fire(deps(), { ...pipeline(), standing: { namespace: 'shop', admitted: true, tenant } }, AT);
  expect(await stored()).toMatchObject([{ team }]);
});

test('fires that can no longer be asked for are forgotten after two days, and those that were missed after thirty', async () => {
  const fires = (pipelineName: string) =>
    Array.from({ length: 60 }, (_, day) => ({
      pipeline_name: pipelineName,
      fire_at: AT - day * DAY,
      missed_at: day % 2 ? AT : null,
    }));
  for (const name of ['a', 'b'])
    await database.write((tx) => tx.db.insertInto('schedule_fires').values(fires(name)).execute());
  const days = async () => {
    const rows = await database.db
      .selectFrom('schedule_fires')
      .select('fire_at')
      .where('pipeline_name', '=', 'b')
      .orderBy('fire_at', 'desc')
      .execute();
    return rows.map(({ fire_at }) => (AT - fire_at) / DAY);
  };
  const missed = (from: number) =>
    Array.from({ length: 30 }, (_, n) => 2 * n + 1).filter((day) => day > from && day <= 30);
  expect(await pruneFires(database, { now: AT, catchUpSeconds: 4 * 86_400 })).toBe(2 * (26 + 15));
  expect(await days()).toEqual([0, 1, 2, 3, 4, 5, 6, ...missed(6)]);
  await pruneFires(database, { now: AT, catchUpSeconds: 0 });
  expect(await days()).toEqual([0, 1, 2, ...missed(2)]);
});

test('a schedule of a namespace that is not admitted starts nothing, and one over its limit uses its fire up', async () => {
  const standing = { namespace: 'shop', admitted: false, tenant: null };
  const closed = { ...pipeline(), standing };
  expect(await fire(deps(), closed, AT)).toEqual({ started: false, reason: 'not_listed' });
  const full = { ...closed, standing: { ...standing, admitted: true, tenant: { max_runs: 1, team: 'shop-team' } } };
  const tenantLoad = (active: number) => ({
    activeRuns: () => Promise.resolve(active),
    tokensIn: () => Promise.resolve(0),
  });
  expect(await fire(deps({ tenantLoad: tenantLoad(1) }), full, AT)).toEqual({ started: false, reason: 'limit' });
  expect(await stored()).toEqual([]);
  expect(await fire(deps({ tenantLoad: tenantLoad(0) }), full, AT + 86_400_000)).toMatchObject({ started: true });
  expect(await stored()).toMatchObject([{ team: 'shop-team' }]);
});
