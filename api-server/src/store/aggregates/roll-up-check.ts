import type { Kysely } from 'kysely';
import type { Counter } from '../../runs/state/records.ts';
import { family } from '../../runs/state/hourly.ts';
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

/** Runs up to which a start counts all rows; more would hold it up (about 10 ms for each 1,000 runs of three steps). */
export const MAX_COUNTED_RUNS = 5_000;

/** Compares the roll-ups with a full scan; null where there is too much to scan at a start. */
export async function checkRollUps(db: Kysely<Tables>, maxRuns = MAX_COUNTED_RUNS): Promise<Shortfall[] | null> {
  const { known } = await db
    .selectFrom((from) =>
      from
        .selectFrom('runs')
        .select('seq')
        .limit(maxRuns + 1)
        .as('first'),
    )
    .select(({ fn }) => fn.countAll().as('known'))
    .executeTakeFirstOrThrow();
  if (Number(known) > maxRuns) return null;
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
  return [...behind, ...(await checkHourly(db)), ...(await checkPacked(db))];
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
const WHO = ['pipeline_name', 'step_name', 'executor', 'agent', 'provider'] as const;
type Who = { [key in (typeof WHO)[number]]: string | null };
const whoOf = (row: Who) => [
  label(row.pipeline_name),
  label(family(row.step_name ?? '')),
  ...[row.executor, row.agent, row.provider].map(label),
];

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
const TOKENS_BY = ['pipeline_name', 'step_name'] as const;

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
        labels: [label(row.pipeline_name), label(family(row.step_name)), direction],
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

/** A roll-up that says less than its rows is a fault of ours; the service goes on, the log says so. */
export async function reportShortfalls(
  db: Kysely<Tables>,
  log: { error(fields: object, msg: string): void },
): Promise<void> {
  const shortfalls = await checkRollUps(db).catch(() => null);
  for (const { metric, labels, rolledUp, counted } of shortfalls ?? []) {
    log.error({ metric, labels, rolled_up: rolledUp, counted }, 'a roll-up is behind its rows');
  }
}
