import { sql } from 'kysely';
import type { HourlyRun, HourlyStep, HourlySum } from './rows/hourly-rows.ts';
import { columns, statement } from './statement.ts';

/** The columns that are added up; all others are the key. */
export const SUMMED = {
  hourly_runs: ['runs', 'duration_ms'],
  hourly_steps: ['executions', 'reporting', 'input_tokens', 'output_tokens', 'cost', 'unpriced', 'duration_ms'],
} as const satisfies { hourly_runs: (keyof HourlyRun)[]; hourly_steps: (keyof HourlyStep)[] };

export const KEYED = {
  hourly_runs: ['hour', 'pipeline_name', 'stage', 'team', 'status'],
  hourly_steps: [
    'hour',
    'step_name',
    'pipeline_name',
    'stage',
    'team',
    'agent',
    'provider',
    'model',
    'cost_source',
    'status',
  ],
} as const satisfies { hourly_runs: (keyof HourlyRun)[]; hourly_steps: (keyof HourlyStep)[] };

function adds<Row extends HourlyRun | HourlyStep>(table: HourlySum['table']) {
  const keyed: readonly string[] = KEYED[table];
  const summed: readonly string[] = SUMMED[table];
  const added = (column: string) => sql`${sql.ref(`${table}.${column}`)} + ${sql.ref(`excluded.${column}`)}`;
  return statement<Row>((db, slot) =>
    db
      .insertInto(table)
      .values(columns(slot, [...keyed, ...summed] as (keyof Row)[]) as Row)
      .onConflict((conflict) =>
        conflict
          .columns(keyed as never)
          .doUpdateSet(Object.fromEntries(summed.map((column) => [column, added(column)]))),
      ),
  );
}

export const addHourlyRun = adds<HourlyRun>('hourly_runs');
export const addHourlyStep = adds<HourlyStep>('hourly_steps');

/** The sums of one transaction, an entry a row of their table, in one order for all processes. */
export interface HourlySums {
  clear(): void;
  add(sum: HourlySum): void;
  runs(): HourlyRun[];
  steps(): HourlyStep[];
}

/** Adds up in memory what one transaction brings, so that it writes every row once. */
export function collectHourly(): HourlySums {
  const runs = collect<HourlyRun>('hourly_runs');
  const steps = collect<HourlyStep>('hourly_steps');
  return {
    clear: () => {
      runs.clear();
      steps.clear();
    },
    add: (sum) => {
      if (sum.table === 'hourly_runs') runs.add(sum.row);
      else steps.add(sum.row);
    },
    runs: runs.rows,
    steps: steps.rows,
  };
}

function collect<R extends HourlyRun | HourlyStep>(table: HourlySum['table']) {
  const keyed = KEYED[table] as readonly (keyof R)[];
  const summed = SUMMED[table] as readonly (keyof R)[];
  const rows = new Map<string, R>();
  /** Most of what one transaction brings is of the same hour, step and outcome. */
  let last: R | null = null;
  const rowOf = (row: R): R => {
    if (last && keyed.every((column) => last?.[column] === row[column])) return last;
    const key = keyed.map((column) => row[column]).join('\n');
    const known = rows.get(key) ?? { ...row, ...Object.fromEntries(summed.map((column) => [column, 0])) };
    rows.set(key, known);
    return known;
  };
  return {
    clear: () => {
      rows.clear();
      last = null;
    },
    add: (row: R) => {
      const known = rowOf(row);
      for (const column of summed) known[column] = ((known[column] as number) + (row[column] as number)) as R[keyof R];
      last = known;
    },
    rows: () => sorted(rows),
  };
}

function sorted<R>(sums: ReadonlyMap<string, R>): R[] {
  if (sums.size < 2) return [...sums.values()];
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
