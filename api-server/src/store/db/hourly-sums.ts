import type { HourlyRun, HourlyStep, HourlySum } from './hourly-rows.ts';
import { statement } from './statement.ts';

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

export const addHourlyRun = statement<HourlyRun>((db, slot) =>
  db
    .insertInto('hourly_runs')
    .values({
      hour: slot.hour,
      pipeline_name: slot.pipeline_name,
      stage: slot.stage,
      team: slot.team,
      status: slot.status,
      runs: slot.runs,
      duration_ms: slot.duration_ms,
    })
    .onConflict((conflict) =>
      conflict.columns([...KEYED.hourly_runs]).doUpdateSet((row) => ({
        runs: row('hourly_runs.runs', '+', row.ref('excluded.runs')),
        duration_ms: row('hourly_runs.duration_ms', '+', row.ref('excluded.duration_ms')),
      })),
    ),
);

export const addHourlyStep = statement<HourlyStep>((db, slot) =>
  db
    .insertInto('hourly_steps')
    .values({
      hour: slot.hour,
      step_name: slot.step_name,
      pipeline_name: slot.pipeline_name,
      stage: slot.stage,
      team: slot.team,
      agent: slot.agent,
      provider: slot.provider,
      model: slot.model,
      cost_source: slot.cost_source,
      status: slot.status,
      executions: slot.executions,
      reporting: slot.reporting,
      input_tokens: slot.input_tokens,
      output_tokens: slot.output_tokens,
      cost: slot.cost,
      unpriced: slot.unpriced,
      duration_ms: slot.duration_ms,
    })
    .onConflict((conflict) =>
      conflict.columns([...KEYED.hourly_steps]).doUpdateSet((row) => ({
        executions: row('hourly_steps.executions', '+', row.ref('excluded.executions')),
        reporting: row('hourly_steps.reporting', '+', row.ref('excluded.reporting')),
        input_tokens: row('hourly_steps.input_tokens', '+', row.ref('excluded.input_tokens')),
        output_tokens: row('hourly_steps.output_tokens', '+', row.ref('excluded.output_tokens')),
        cost: row('hourly_steps.cost', '+', row.ref('excluded.cost')),
        unpriced: row('hourly_steps.unpriced', '+', row.ref('excluded.unpriced')),
        duration_ms: row('hourly_steps.duration_ms', '+', row.ref('excluded.duration_ms')),
      })),
    ),
);

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
