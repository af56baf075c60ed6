import { CompiledQuery, type Kysely, type KyselyPlugin, type RootOperationNode, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../db/database.ts';
import { dialectOf } from '../../db/dialect.ts';
import type { Tables } from '../../db/schema.ts';
import { newTestDatabase, type TestDatabase } from '../../fixtures/test-database.ts';
import { labelledCounts } from '../../aggregates/calibration.ts';
import { closeDays } from '../../aggregates/daily/close-days.ts';
import { batchesOf, readAll } from '../../aggregates/fixtures/evidence.ts';
import { bucketSamples } from '../../aggregates/replay-samples.ts';
import { runPercentiles } from '../../aggregates/percentiles.ts';
import { sumRuns } from '../../aggregates/run-sums.ts';
import { packDays } from '../../aggregates/uses/pack-days.ts';
import { stepFacts } from '../../aggregates/step-facts.ts';
import { storedRunsIn } from '../../aggregates/evidence/stored-runs.ts';
import { countWaiting, listApprovals } from '../approvals.ts';
import { readEvents, readLastEvents } from '../bodies/run-bodies.ts';
import { anyMark } from '../feedback.ts';
import { listDeliveries } from '../deliveries.ts';
import { lastRuns } from '../last-runs.ts';
import { lastStatuses, listRuns } from '../list-runs.ts';
import { listNotifications, undelivered } from '../notification-list.ts';
import { oldRows } from '../retention/prune-notifications.ts';
import { runDetail } from '../run-detail.ts';
import { createDeclared } from '../results/declared.ts';
import { batchAnswers } from '../replay/batch-answers.ts';
import { awaitsSearch, enterPortion, newestRun, nextPortion } from '../search/index-runs.ts';

const RUNS = 10_000;
const ID = 'run-5000';
const HOUR_MS = 3_600_000;
const EVERY_MS = 200_000;
const DAY_MS = 24 * HOUR_MS;

let site: TestDatabase;
let database: Database;

beforeAll(async () => {
  site = await newTestDatabase();
  database = await site.open();
  await database.write(async ({ db }) => fill(db));
  const upTo = await newestRun(database.db);
  for (let more = true; more;) {
    const portion = await nextPortion(
      database.db,
      { upTo, most: 20 },
      { readDeclared: createDeclared(database.db), log: { warn: () => undefined } },
    );
    ({ more } = await database.write((tx) => enterPortion(tx, portion)));
  }
  const signal = AbortSignal.timeout(60_000);
  await closeDays({ database, now: (RUNS + 1) * EVERY_MS, signal });
  await packDays({ database, signal });
  if (site.kind === 'postgres') await database.write(({ db }) => sql`analyze`.execute(db));
});
afterAll(async () => {
  await database.close();
  await site.remove();
});

/** Runs of 23 days with two steps and three rows of events each; every team has an eighth of them. */
async function fill(db: Kysely<Tables>): Promise<void> {
  const numbers = sql.raw(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${RUNS})`,
  );
  const each = sql.raw(`'pipeline-' || (n % 30), 'team-' || (n % 30 % 8), 'production'`);
  await sql`INSERT INTO runs (id, definition_hash, source, status, summary, dedup_key, triggered_at, completed_at, input_tokens, output_tokens,
      unpriced_steps, warning_count, context, pipeline_name, team, stage)
    ${numbers} SELECT 'run-' || n, 'h', 'generic', CASE WHEN n % 50 = 0 THEN 'failed' ELSE 'completed' END, 'Host ' || n || ' is slow', 'key-' || n,
      n * 200000, n * 200000 + 60000, 1, 1, 0, 0, '{"labels":{"host":"h' || (n % 900) || '"},"text":"' || ${'x'.repeat(600)} || '"}', ${each} FROM numbers`.execute(
    db,
  );
  for (const step of [1, 2])
    await sql`INSERT INTO step_executions (run_id, step_index, step_name, family, id, kind, executor, agent, model, status, started_at, completed_at,
        attempts, pipeline_name, team, stage)
      ${numbers} SELECT 'run-' || n, ${sql.lit(step)}, ${sql.lit(`look-${step}-`)} || (n % 30), ${sql.lit(`look-${step}-`)} || (n % 30), n || ${sql.lit(`/${step}`)}, 'step', 'gateway', 'agent-' || (n % 12), 'model-' || (n % 5),
        'completed', n * 200000, n * 200000 + 9000, 1, ${each} FROM numbers`.execute(db);
  await sql`INSERT INTO judged_steps (family, stage, started_at, run_id, step_name, pipeline_name, team, executor, agent, model, outcome)
    SELECT family, stage, started_at, run_id, step_name, pipeline_name, team, executor, agent, model, 'correct' FROM step_executions`.execute(
    db,
  );
  const hour = sql`triggered_at - triggered_at % ${sql.lit(HOUR_MS)}`;
  await sql`INSERT INTO hourly_runs (hour, pipeline_name, stage, team, status, runs, duration_ms)
    SELECT ${hour}, pipeline_name, stage, team, status, count(*), sum(completed_at - triggered_at) FROM runs
    GROUP BY ${hour}, pipeline_name, stage, team, status`.execute(db);
  const started = sql`started_at - started_at % ${sql.lit(HOUR_MS)}`;
  await sql`INSERT INTO hourly_steps (hour, step_name, pipeline_name, stage, team, agent, provider, model, cost_source, status, executions, reporting,
      input_tokens, output_tokens, cost, unpriced, duration_ms)
    SELECT ${started}, family, pipeline_name, stage, team, agent, '', model, '', status, count(*), 0, 0, 0, 0, 0, sum(completed_at - started_at)
    FROM step_executions GROUP BY ${started}, family, pipeline_name, stage, team, agent, model, status`.execute(db);
  await sql`INSERT INTO deliveries (received_at, source, outcome, status_code, run_id, pipeline, labels, allow_testing, raw_truncated)
    ${numbers} SELECT n * 200000, 'generic', 'accepted', 202, 'run-' || n, 'pipeline-' || (n % 30), '{}', 0, 0 FROM numbers`.execute(
    db,
  );
  await sql`INSERT INTO notifications (id, run_id, pipeline_name, stage, event, channel, source, message, status, attempts, due_at, created_at)
    ${numbers} SELECT 'message-' || n, 'run-' || n, 'pipeline-1', 'production', 'fail', 'slack', '{}', '{}', 'sent', 1, n * 200000, n * 200000 FROM numbers`.execute(
    db,
  );
  await sql`INSERT INTO approvals (id, run_id, step_name, kind, pipeline_name, stage, question, fields, status, requested_at, expires_at)
    ${numbers} SELECT 'approval-' || n, 'run-' || n, 'ask', 'step', 'pipeline-1', 'production', 'Restart?', '[]',
      CASE WHEN n % 20 = 0 THEN 'pending' ELSE 'approved' END, n * 200000, n * 200000 + 60000 FROM numbers`.execute(db);
  for (const seq of [1, 5, 9])
    await sql`INSERT INTO run_events (run_id, first_seq, events) ${numbers} SELECT 'run-' || n, ${sql.lit(seq)}, '[{"seq":' || ${sql.lit(`${seq}`)} || '}]' FROM numbers`.execute(
      db,
    );
}

/** The statements that `ask` runs, in the words of the database's plan. */
async function plansOf(
  ask: (db: Kysely<Tables>) => Promise<unknown>,
): Promise<{ query: CompiledQuery; plan: string[] }[]> {
  const nodes: RootOperationNode[] = [];
  const noting: KyselyPlugin = {
    transformQuery: ({ node }) => {
      nodes.push(node);
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  const { db } = database;
  await ask(db.withPlugin(noting));
  const explain = dialectOf(db).name === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  return Promise.all(
    nodes.map(async (node) => {
      const query = db.getExecutor().compileQuery(node, { queryId: 'plan' });
      const { rows } = await db.executeQuery<Record<string, unknown>>(
        CompiledQuery.raw(`${explain} ${query.sql}`, [...query.parameters]),
      );
      return { query, plan: rows.map((row) => String(row['detail'] ?? row['QUERY PLAN'])) };
    }),
  );
}

/** Tables that grow with the history. */
const LARGE = 'runs|step_executions|judged_steps|run_events|run_bodies|deliveries|notifications|approvals';
// Who looks through an index of the few failed or waiting messages, or of the runs without a team, reads no more than those.
const SCAN = new RegExp(
  `SCAN (${LARGE})\\b(?! USING INDEX (?:notifications_failed|notifications_due|runs_without_team)\\b)|Seq Scan on (${LARGE}|run_search)\\b`,
);

/** A statement without a condition of its own that stops after a page reads no more than that page. */
const isPage = ({ sql: text }: CompiledQuery) => {
  const own = text.replaceAll(/\(select [^()]* where [^()]*\)/g, '');
  return !own.includes(' where ') && own.includes(' limit ');
};

const scansIn = (plans: Awaited<ReturnType<typeof plansOf>>) =>
  plans.flatMap(({ query, plan }) =>
    isPage(query) ? [] : plan.filter((line) => SCAN.test(line)).map((line) => `${line}: ${query.sql}`),
  );

const page = { limit: 50, offset: 0 };
/** Whole days and parts of others, of which sketches are read, and a few of which durations are read from rows. */
const WEEKS = { stages: ['production'], window: { from: 3 * DAY_MS - 5, to: 20 * DAY_MS + 5 } } as const;
const DAYS = { stages: ['production'], window: { from: 18 * DAY_MS + 5, to: 20 * DAY_MS + 5 } } as const;
const BUCKET = { agent: 'agent-3', model: 'model-3', provider: null, promptHash: null, agentVersion: null };
const EVIDENCE_OF = { pipeline: 'pipeline-3', stage: 'production' } as const;

test.each<[string, (db: Kysely<Tables>) => Promise<unknown>]>([
  ['the first page of the list', (db) => listRuns(db, {}, page)],
  ['a page behind a row', (db) => listRuns(db, {}, { ...page, before: 5_000 })],
  ['a search without a match', (db) => listRuns(db, { q: 'nowhere' }, page)],
  ['an agent without a run', (db) => listRuns(db, { agent: 'nobody' }, page)],
  ['a model without a run', (db) => listRuns(db, { model: 'none' }, page)],
  ['a label without a run', (db) => listRuns(db, { labels: [{ key: 'host', value: 'none' }] }, page)],
  ['a rare label', (db) => listRuns(db, { labels: [{ key: 'host', value: 'h7' }] }, page)],
  ['a team without a run', (db) => listRuns(db, { team: 'none' }, page)],
  ['runs without a team, of which there is none', (db) => listRuns(db, { teamless: true }, page)],
  [
    'a day of runs without a team',
    (db) => listRuns(db, { teamless: true, since: 11 * 24 * HOUR_MS, until: 12 * 24 * HOUR_MS }, page),
  ],
  ['what the answers of replays say', (db) => batchAnswers(db, [ID])],
  ['a status', (db) => listRuns(db, { status: ['failed'] }, page)],
  ['a pipeline', (db) => listRuns(db, { pipeline: 'pipeline-3' }, page)],
  [
    'a day of a team',
    (db) => listRuns(db, { team: 'team-3', since: 11 * 24 * HOUR_MS, until: 12 * 24 * HOUR_MS }, page),
  ],
  ['all of some days', (db) => listRuns(db, { since: 11 * 24 * HOUR_MS, until: 20 * 24 * HOUR_MS }, page)],
  ['the most expensive runs', (db) => listRuns(db, {}, { ...page, order: '-cost' })],
  ['the longest runs of a team', (db) => listRuns(db, { team: 'team-3' }, { ...page, order: '-duration' })],
  ['the newest deliveries', (db) => listDeliveries(db, {}, 51)],
  ['deliveries that were refused', (db) => listDeliveries(db, { outcome: ['at_capacity'] }, 51)],
  ['messages that were given up', (db) => listNotifications(db, { status: 'failed' }, 51)],
  ['messages that did not arrive', (db) => undelivered(db)],
  ['a part of the old messages', (db) => oldRows(db, { created_at: 7, id: 'x' }, 100)],
  ['how many approvals wait', (db) => countWaiting(db)],
  ['a run', (db) => runDetail(db, ID, { raw: true })],
  ['the events of a run', (db) => readEvents(db, ID, 0)],
  ['the last events of a run', (db) => readLastEvents(db, ID)],
  ['the last run of pipelines', (db) => lastRuns(db, ['pipeline-1', 'pipeline-2', 'none'])],
  ['the last runs of pipelines', (db) => lastStatuses(db, ['pipeline-1', 'pipeline-2', 'none'], 8)],
  ['whether a pipeline has marks', (db) => anyMark(db, 'pipeline-3')],
  ['the evidence of a pipeline', (db) => batchesOf(db, EVIDENCE_OF)],
  [
    'the evidence of a day of a pipeline',
    (db) => readAll(storedRunsIn(() => db, EVIDENCE_OF, { from: 11 * 24 * HOUR_MS, to: 12 * 24 * HOUR_MS })),
  ],
  ['what the search has to do', (db) => awaitsSearch(db, RUNS)],
  ['sums of all pipelines', (db) => sumRuns(db, WEEKS)],
  ['durations of all pipelines', (db) => runPercentiles(db, WEEKS, ['all'])],
  ['durations of a team', (db) => runPercentiles(db, { ...WEEKS, team: 'team-3' }, ['all', 'pipeline'])],
  ['durations of a pipeline in some days', (db) => runPercentiles(db, { ...DAYS, pipeline: 'pipeline-3' }, ['all'])],
  ['the judged executions of a step', (db) => labelledCounts(db, 'look-1-3')],
  ['the newest judged executions of a bucket', (db) => bucketSamples(db, 'look-1-3', { bucket: BUCKET, limit: 10 })],
  ['figures of a step', (db) => stepFacts(db, { ...WEEKS, step: 'look-1-3' })],
])('%s reads what it shows and no large table', async (_, ask) => expect(scansIn(await plansOf(ask))).toEqual([]));

test('the approvals that expire first are read in that order', async () => {
  const plans = await plansOf((db) => listApprovals(db, { status: 'pending' }, page));
  const [sizes] = plans.filter(({ query }) => query.sql.includes('order by "expires_at"'));
  expect(sizes?.plan.join('\n')).toContain('approvals_by_expiry');
  expect(sizes?.plan.join('\n')).not.toMatch(/TEMP B-TREE|Sort/);
});

test('a plan that reads a whole table is noticed', async () => {
  const all = (db: Kysely<Tables>) => db.selectFrom('runs').select('id').where('summary', 'like', '%x%').execute();
  expect(scansIn(await plansOf(all))).toHaveLength(1);
});

test('a search takes the bounds of its range as whole numbers: with floats a full-text index reads all matches', async () => {
  const range = { since: 11 * 24 * HOUR_MS, until: 20 * 24 * HOUR_MS };
  const plans = await plansOf((db) => listRuns(db, { ...range, status: ['failed'] }, { ...page, before: 5_000 }));
  const bounds = plans.flatMap(({ query: { sql: text } }) =>
    [...text.matchAll(/ (?:and|where) "?run_search"?\."?rowid"? [<>]=? (.{5})/g)].map(([, bound]) => bound),
  );
  expect(new Set(bounds)).toEqual(new Set(['cast(']));
});
