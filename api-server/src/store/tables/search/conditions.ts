import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { dialectOf } from '../../db/dialect.ts';
import type { Tables } from '../../db/schema.ts';
import type { RunFilter } from './run-filter.ts';

export type RunQuery = SelectQueryBuilder<Tables, 'runs', object>;

const EQUAL = {
  pipeline: 'runs.pipeline_name',
  team: 'runs.team',
  stage: 'runs.stage',
  severity: 'runs.severity',
  source: 'runs.source',
  fingerprint: 'runs.fingerprint',
} as const;

/** What no fact of an ended run says: its time, its parent, that it has no team, whom it waits for, and who looks at it. */
export function beyondFacts(query: RunQuery, filter: RunFilter): RunQuery {
  const { since, until, parent, teamless, waiting, attention } = filter;
  let asked = query;
  if (since !== undefined) asked = asked.where('runs.triggered_at', '>=', since);
  if (until !== undefined) asked = asked.where('runs.triggered_at', '<', until);
  if (parent !== undefined) asked = asked.where('runs.parent_run_id', '=', parent);
  if (teamless !== undefined) asked = asked.where('runs.team', teamless ? 'is' : 'is not', null);
  if (waiting !== undefined) asked = asked.where('runs.waiting_on', waiting ? 'is not' : 'is', null);
  if (attention === undefined) return asked;
  return asked.where('runs.id', 'in', ({ selectFrom }) =>
    selectFrom('attention').select('attention.run_id').where('attention.state', 'in', attention),
  );
}

/** 1 for a run that holds a batch of replays. */
export const isBatch = sql<number>`(select count(*) from replays where replays.run_id = runs.id)`;

function eitherOr(query: RunQuery, { warnings, replay }: RunFilter): RunQuery {
  const warned = warnings === undefined ? query : query.where('runs.warning_count', warnings ? '>' : '=', 0);
  return replay === undefined ? warned : warned.where(sql<boolean>`${isBatch} = ${replay ? 1 : 0}`);
}

/** The runs that a filter describes but for `q`, by their rows. */
export function filtered(db: Kysely<Tables>, filter: RunFilter): RunQuery {
  const dialect = dialectOf(db);
  let query = beyondFacts(db.selectFrom('runs'), filter);
  for (const [key, column] of Object.entries(EQUAL)) {
    const value = filter[key as keyof typeof EQUAL];
    if (value !== undefined) query = query.where(column, '=', value);
  }
  if (filter.status !== undefined) query = query.where('runs.status', 'in', filter.status);
  query = eitherOr(query, filter);
  for (const label of filter.labels ?? []) query = query.where(dialect.hasEntry('runs.context', 'labels', label));
  for (const column of ['agent', 'model'] as const) {
    const value = filter[column];
    if (value !== undefined) query = query.where(({ exists, selectFrom }) => exists(ofStep(selectFrom, column, value)));
  }
  return query;
}

type SelectFrom = Kysely<Tables>['selectFrom'];

function ofStep(selectFrom: unknown, column: 'agent' | 'model', value: string) {
  return (selectFrom as SelectFrom)('step_executions')
    .select('step_executions.id')
    .whereRef('step_executions.run_id', '=', sql.ref('runs.id'))
    .where(`step_executions.${column}`, '=', value);
}
