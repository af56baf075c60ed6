import { type Kysely, sql } from 'kysely';
import { HOUR_MS } from '../../runs/state/hourly.ts';
import type { Tables } from '../db/schema.ts';
import { isExecution } from '../db/rows/executions.ts';

/** Sums of an hour or runs of a day that say less than the rows do; `counted` and `rolledUp` are runs or executions. */
export interface SummedShortfall {
  metric: 'hourly_runs' | 'hourly_steps' | 'packed_runs';
  /** Hour or day in milliseconds, then pipeline, stage and status, then the step, or team, agent and model, where it is of one. */
  labels: string[];
  rolledUp: number;
  counted: number;
}

export interface Group {
  labels: string[];
  n: number;
}

/** Compares the sums with a full scan of the rows; more is right, because pruned rows stay in the sums. */
export async function checkHourly(db: Kysely<Tables>): Promise<SummedShortfall[]> {
  return [
    ...behind('hourly_runs', await runRows(db), await runSums(db)),
    ...behind('hourly_steps', await stepRows(db), await stepSums(db)),
  ];
}

/** The groups of which there are fewer in the sums than in the rows. */
export function behind(metric: SummedShortfall['metric'], rows: Group[], sums: Group[]): SummedShortfall[] {
  const known = new Map(sums.map(({ labels, n }) => [JSON.stringify(labels), n]));
  const counted = new Map<string, Group>();
  for (const { labels, n } of rows) {
    const key = JSON.stringify(labels);
    counted.set(key, { labels, n: (counted.get(key)?.n ?? 0) + n });
  }
  return [...counted]
    .map(([key, { labels, n }]) => ({ metric, labels, rolledUp: known.get(key) ?? 0, counted: n }))
    .filter((entry) => entry.rolledUp < entry.counted);
}

const hourOf = (column: string) => sql<number>`${sql.ref(column)} - ${sql.ref(column)} % ${sql.lit(HOUR_MS)}`;

async function runRows(db: Kysely<Tables>): Promise<Group[]> {
  const rows = await db
    .selectFrom('runs')
    .select(({ fn }) => [hourOf('triggered_at').as('hour'), 'pipeline_name', 'stage', 'status', fn.countAll().as('n')])
    .where('completed_at', 'is not', null)
    .groupBy(['hour', 'pipeline_name', 'stage', 'status'])
    .execute();
  return rows.map((row) => ({
    labels: [String(row.hour), row.pipeline_name, row.stage, row.status],
    n: Number(row.n),
  }));
}

async function runSums(db: Kysely<Tables>): Promise<Group[]> {
  const rows = await db
    .selectFrom('hourly_runs')
    .select(({ fn }) => ['hour', 'pipeline_name', 'stage', 'status', fn.sum('runs').as('n')])
    .groupBy(['hour', 'pipeline_name', 'stage', 'status'])
    .execute();
  return rows.map((row) => ({
    labels: [String(row.hour), row.pipeline_name, row.stage, row.status],
    n: Number(row.n),
  }));
}

async function stepRows(db: Kysely<Tables>): Promise<Group[]> {
  const rows = await db
    .selectFrom('step_executions')
    .select(({ fn }) => [
      hourOf('started_at').as('hour'),
      'pipeline_name',
      'stage',
      'status',
      'family',
      fn.countAll().as('n'),
    ])
    .where(isExecution)
    .groupBy(['hour', 'pipeline_name', 'stage', 'status', 'family'])
    .execute();
  return rows.map((row) => ({
    labels: [String(row.hour), row.pipeline_name, row.stage, row.status, row.family],
    n: Number(row.n),
  }));
}

async function stepSums(db: Kysely<Tables>): Promise<Group[]> {
  const rows = await db
    .selectFrom('hourly_steps')
    .select(({ fn }) => ['hour', 'pipeline_name', 'stage', 'status', 'step_name', fn.sum('executions').as('n')])
    .groupBy(['hour', 'pipeline_name', 'stage', 'status', 'step_name'])
    .execute();
  return rows.map((row) => ({
    labels: [String(row.hour), row.pipeline_name, row.stage, row.status, row.step_name],
    n: Number(row.n),
  }));
}
