import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { StepSum } from '../../analytics/sums.ts';
import { hourOf, keyName } from '../../runs/state/hourly.ts';
import type { Tables } from '../db/schema.ts';
import { closedUntil } from './daily/closed-days.ts';
import { type Spans, sumParts } from './daily/sum-parts.ts';
import { isExecution } from '../db/rows/executions.ts';
import { all, bucketOf, type Condition, equals, executionFilter, oneOf, type Scope, within } from './scope.ts';

/** Names to group by; the others are null or empty in the result. */
export type StepKey = 'pipeline' | 'step' | 'team' | 'agent' | 'provider' | 'model' | 'costSource' | 'status';

/** The columns of the sums, and of the rows where they are called otherwise. */
const COLUMNS: Record<StepKey, string> = {
  pipeline: 'pipeline_name',
  step: 'step_name',
  team: 'team',
  agent: 'agent',
  provider: 'provider',
  model: 'model',
  costSource: 'cost_source',
  status: 'status',
};
const rowColumn = (key: StepKey): string => `step_executions.${key === 'step' ? 'family' : COLUMNS[key]}`;

type Row = Omit<StepSum, StepKey | 'inputTokens' | 'outputTokens' | 'cost'> &
  Partial<Record<StepKey, string | null>> & {
    inputTokens: number | null;
    outputTokens: number | null;
    cost: number | null;
  };

/** Ended executions that started in the window, by the names of `by`; a group may come in several parts. */
export async function sumSteps(db: Kysely<Tables>, scope: Scope, by: readonly StepKey[]): Promise<StepSum[]> {
  const { sums, edges } = sumParts(scope.window, await closedUntil(db, scope));
  const parts = [...sums.map((spans) => fromSums(scope, by, spans)), ...edges.map((edge) => fromRows(scope, by, edge))];
  if (parts.length === 0) return [];
  const { rows } = await sql<Row>`${sql.join(parts, sql` union all `)}`.execute(db);
  return rows.map(toSum);
}

const USE_KEYS: ReadonlySet<StepKey> = new Set(['pipeline', 'team', 'costSource']);
const STEPS = { week: 'weekly_steps', day: 'daily_steps', hour: 'hourly_steps' } as const;
/** Fewer rows where steps, agents and models are not asked for. */
const USE = { ...STEPS, week: 'weekly_use', day: 'daily_use' } as const;

const isUse = ({ step, agent, model }: Scope, by: readonly StepKey[]): boolean =>
  by.every((key) => USE_KEYS.has(key)) && [step, agent, model].every((name) => name === undefined);

/** The sums of a table whose key begins with the step: of each name its days are looked up, where otherwise all would be read. */
const byStep = (table: string) => sql`(with recursive names (name) as (
    select min(step_name) from ${sql.table(table)}
    union all select (select min(step_name) from ${sql.table(table)} where step_name > names.name) from names where names.name is not null)
  select name from names where name is not null) as names join ${sql.table(table)} as sums on sums.step_name = names.name`;

const names = (scope: Scope): Condition[] => [
  oneOf('stage', scope.stages),
  ...equals('pipeline_name', scope.pipeline),
  ...equals('step_name', scope.step),
  ...equals('team', scope.team),
  ...equals('agent', scope.agent),
  ...equals('model', scope.model),
];

const grouped = (columns: readonly RawBuilder<unknown>[]) => sql.join([sql`bucket`, ...columns]);

function fromSums(scope: Scope, by: readonly StepKey[], { time, window }: Spans): RawBuilder<Row> {
  const table = (isUse(scope, by) ? USE : STEPS)[time];
  const isByStep = (table === 'weekly_steps' || table === 'daily_steps') && scope.step === undefined;
  return sql`
    select ${selected(by, (key) => COLUMNS[key])}, ${bucketOf(time, scope.bucketMs)} as bucket,
      sum(executions) as executions, sum(reporting) as reporting, sum(input_tokens) as "inputTokens", sum(output_tokens) as "outputTokens",
      sum(cost) as cost, sum(unpriced) as unpriced, sum(duration_ms) as "durationMs"
    from ${isByStep ? byStep(table) : sql.table(table)} where ${all([...names(scope), ...within(time, window)])}
    group by ${grouped(by.map((key) => sql.ref(COLUMNS[key])))}`;
}

/** The rows of a part of an hour, found by the names that its sums have. */
function fromRows(scope: Scope, by: readonly StepKey[], edge: { from: number; to: number }): RawBuilder<Row> {
  const seen = all([sql<boolean>`hour = ${hourOf(edge.from)}`, ...names(scope)]);
  return sql`
    select ${selected(by, rowColumn)}, ${bucketOf('started_at', scope.bucketMs)} as bucket,
      count(*) as executions, count(coalesce(input_tokens, output_tokens)) as reporting,
      sum(input_tokens) as "inputTokens", sum(output_tokens) as "outputTokens", sum(cost) as cost,
      sum(case when unpriced_calls > 0 or (cost is null and coalesce(input_tokens, output_tokens) is not null) then 1 else 0 end) as unpriced,
      sum(completed_at - started_at) as "durationMs"
    from (select distinct step_name, stage from hourly_steps where ${seen}) as seen
    join step_executions on step_executions.family = seen.step_name and step_executions.stage = seen.stage
    where ${isExecution()} and ${all([...within('started_at', edge), ...executionFilter(scope)])}
    group by ${grouped(by.map((key) => sql.ref(rowColumn(key))))}`;
}

const selected = (by: readonly StepKey[], column: (key: StepKey) => string) =>
  sql.join(by.map((key) => sql`${sql.ref(column(key))} as ${sql.ref(key)}`));

const name = (kind: 'team' | 'agent' | 'provider' | 'model', value: string | null | undefined): string | null =>
  keyName(kind, value ?? null) || null;

const toSum = (row: Row): StepSum => ({
  ...row,
  pipeline: row.pipeline ?? '',
  step: row.step ?? '',
  team: name('team', row.team),
  agent: name('agent', row.agent),
  provider: name('provider', row.provider),
  model: name('model', row.model),
  costSource: row.costSource || null,
  status: row.status ?? '',
  inputTokens: row.inputTokens ?? 0,
  outputTokens: row.outputTokens ?? 0,
  cost: row.cost ?? 0,
});
