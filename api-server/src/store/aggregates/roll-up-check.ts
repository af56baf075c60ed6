import { type Kysely, sql } from 'kysely';
import type { Counter } from '../../runs/state/records.ts';
import { ACTIVE_RUN_STATUSES } from '../../runs/state/model.ts';
import { MODEL_OF_STEPS, readCounters } from '../db/counters.ts';
import { checkHourly } from './hourly-check.ts';
import type { Tables } from '../db/schema.ts';
import { checkPacked } from './uses/packed-check.ts';

/** A roll-up that says less than the rows do; more is right, because pruned runs stay counted. */
export interface Shortfall {
  metric: string;
  labels: string[];
  rolledUp: number;
  counted: number;
}

/** Rows up to which a start counts them all (about 10 ms for each 1,000 runs of three steps). A fan-out has thousands of steps in one run. */
const MOST = { runs: 5_000, step_executions: 50_000, counters: 200_000, hourly_steps: 200_000 };

/** Compares the roll-ups with a full scan; null where there is too much to scan at a start. */
export async function checkRollUps(db: Kysely<Tables>, most: Partial<typeof MOST> = MOST): Promise<Shortfall[] | null> {
  for (const [table, rows] of Object.entries(most))
    if (await hasMoreThan(db, table as keyof typeof MOST, rows)) return null;
  const counted = (await Promise.all([countRuns(db), countSteps(db), countTokens(db)])).flat();
  const stored = summed((await readCounters(db)).map(comparable));
  const rolledUp = new Map(stored.map((counter) => [keyOf(counter), counter.value]));
  const behind = counted
    .map(({ metric, labels, value }) => ({
      metric,
      labels,
      counted: value,
      rolledUp: rolledUp.get(keyOf({ metric, labels })) ?? 0,
    }))
    .filter((entry) => entry.rolledUp < entry.counted);
  const others = countedAsOther(stored, counted);
  const lacking = Map.groupBy(behind, ({ metric }) => metric);
  const unexplained = [...lacking].flatMap(([metric, entries]) => {
    const sum = entries.reduce((all, entry) => all + entry.counted - entry.rolledUp, 0);
    return sum > (others.get(metric) ?? 0) ? entries : [];
  });
  return [...unexplained, ...(await checkHourly(db)), ...(await checkPacked(db))];
}

/** By metric, what stands under `other` beyond the rows that are named so: names that had no room count there. */
function countedAsOther(stored: readonly Counter[], counted: readonly Counter[]): Map<string, number> {
  const named = new Map(counted.map((counter) => [keyOf(counter), counter.value]));
  const others = new Map<string, number>();
  for (const counter of stored.filter(({ labels }) => labels.includes('other'))) {
    const beyond = Math.max(0, counter.value - (named.get(keyOf(counter)) ?? 0));
    others.set(counter.metric, (others.get(counter.metric) ?? 0) + beyond);
  }
  return others;
}

async function hasMoreThan(db: Kysely<Tables>, table: keyof typeof MOST, rows: number): Promise<boolean> {
  const { rows: found } = await sql`select 1 from ${sql.table(table)} limit 1 offset ${rows}`.execute(db);
  return found.length > 0;
}

const keyOf = ({ metric, labels }: Pick<Counter, 'metric' | 'labels'>) => JSON.stringify([metric, labels]);
/** As the roll-ups write a label. */
const label = (value: string | null) => (value ?? '').slice(0, 120);

async function countRuns(db: Kysely<Tables>): Promise<Counter[]> {
  const rows = await db
    .selectFrom('runs')
    .select(({ fn }) => ['pipeline_name', 'status', fn.countAll().as('value')])
    .where('stage', '=', 'production')
    .where('status', 'not in', ACTIVE_RUN_STATUSES)
    .groupBy(['pipeline_name', 'status'])
    .execute();
  return rows.map((row) => ({
    metric: 'pipeline_runs_total',
    labels: [label(row.pipeline_name), row.status],
    value: Number(row.value),
  }));
}

/** Not by model: a roll-up counts those beyond its bound as `other`. */
const WHO = ['pipeline_name', 'family', 'executor', 'agent', 'provider'] as const;
type Who = { [key in (typeof WHO)[number]]: string | null };
const whoOf = (row: Who) => WHO.map((name) => label(row[name]));

async function countSteps(db: Kysely<Tables>): Promise<Counter[]> {
  const rows = await endedSteps(db)
    .select(({ fn }) => [...WHO, 'status', fn.countAll().as('value')])
    .groupBy([...WHO, 'status'])
    .execute();
  return summed(
    rows.map((row) => ({
      metric: STEPS,
      labels: [...whoOf(row), row.status],
      value: Number(row.value),
    })),
  );
}

/** By step: a row has the sum of all that was asked for it, which count under names of their own. Not by team, as not by model. */
const TOKENS_BY = ['pipeline_name', 'family'] as const;

async function countTokens(db: Kysely<Tables>): Promise<Counter[]> {
  const rows = await endedSteps(db)
    .select(({ fn }) => [...TOKENS_BY, fn.sum('input_tokens').as('input'), fn.sum('output_tokens').as('output')])
    .where((where) => where.or([where('input_tokens', 'is not', null), where('output_tokens', 'is not', null)]))
    .groupBy([...TOKENS_BY])
    .execute();
  return summed(
    rows.flatMap((row) =>
      (['input', 'output'] as const).map((direction) => ({
        metric: TOKENS,
        labels: [label(row.pipeline_name), label(row.family), direction],
        value: Number(row[direction] ?? 0),
      })),
    ),
  );
}

const STEPS = 'pipeline_steps_total';
const TOKENS = 'pipeline_tokens_total';

/** A roll-up under the labels by which the rows are counted. */
function comparable({ metric, labels, value }: Counter): Counter {
  if (metric === TOKENS) return { metric, value, labels: [...labels.slice(1, 3), ...labels.slice(-1)] };
  return { metric, value, labels: metric === STEPS ? labels.toSpliced(MODEL_OF_STEPS, 1) : labels };
}

/** A group's own row is no step of the metrics, its branches are. */
const endedSteps = (db: Kysely<Tables>) =>
  db
    .selectFrom('step_executions')
    .where('stage', '=', 'production')
    .where('status', 'not in', ['running', 'skipped'])
    .where('kind', 'not in', ['parallel', 'fan_out']);

/** Branches of one fan-out are one series. */
function summed(counters: readonly Counter[]): Counter[] {
  const byKey = new Map<string, Counter>();
  for (const counter of counters) {
    const known = byKey.get(keyOf(counter));
    if (known) known.value += counter.value;
    else byKey.set(keyOf(counter), { ...counter });
  }
  return [...byKey.values()];
}

/** What a reading thread is asked: the rows are many, and the service takes webhooks meanwhile. */
export const answer = (db: Kysely<Tables>): Promise<Shortfall[] | null> => checkRollUps(db);
