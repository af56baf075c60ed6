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
  const runs = new Map<string, HourlyRun>();
  const steps = new Map<string, HourlyStep>();
  return {
    clear: () => {
      runs.clear();
      steps.clear();
    },
    add: (sum) => {
      if (sum.table === 'hourly_runs') merge(runs, sum.row, sum.table);
      else merge(steps, sum.row, sum.table);
    },
    runs: () => sorted(runs),
    steps: () => sorted(steps),
  };
}

function merge<R extends HourlyRun | HourlyStep>(into: Map<string, R>, row: R, table: HourlySum['table']): void {
  const key = KEYED[table].map((column) => row[column as keyof R]).join('\n');
  const known = into.get(key);
  if (!known) return void into.set(key, { ...row });
  for (const column of SUMMED[table]) {
    const name = column as keyof R;
    known[name] = ((known[name] as number) + (row[name] as number)) as R[keyof R];
  }
}

function sorted<R>(sums: ReadonlyMap<string, R>): R[] {
  if (sums.size < 2) return [...sums.values()];
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
