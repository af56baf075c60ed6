import { type RawBuilder, sql } from 'kysely';
import { DAY_MS } from '../../analytics/window.ts';
import { all, type Condition, endedRuns, type Scope, within } from './scope.ts';

/** What of a run is timed: all of it, all but the waiting for people, or that waiting, of the runs that had it. */
export type Timed = 'total' | 'machine' | 'waiting';

/** Under these names the sketches of days stand beside those of steps; no step can be named so. */
export const SKETCH_OF = { total: '', machine: ':machine', waiting: ':waiting' } as const satisfies Record<
  Timed,
  string
>;

/** Milliseconds of a run; with `waitsOf` joined where that is not the total. */
export const MS_OF: Readonly<Record<Timed, RawBuilder<number>>> = {
  total: sql`completed_at - triggered_at`,
  machine: sql`completed_at - triggered_at - coalesce(waited_ms, 0)`,
  waiting: sql`waited_ms`,
};

/** No run asks before it is triggered, and none of a window that is over after the last of them ended; clocks of replicas differ by less than a day. */
function askedIn(scope: Scope): Condition[] {
  const { from, to } = scope.window;
  if (to === null) return within('requested_at', { from, to });
  const runs = endedRuns(scope);
  const last = sql`select max(completed_at) + ${DAY_MS} from ${runs.from} where ${all(runs.where)}`;
  return [...within('requested_at', { from, to: null }), sql`requested_at < (${last})`];
}

/** How long each run waited for people: the time in which at least one question was open, also one of a run that it started. */
const waits = (scope: Scope): RawBuilder<unknown> => sql`(
  with recursive asked (run_id, began, ended) as (
    select run_id, requested_at, decided_at from approvals
    where ${all([sql<boolean>`decided_at is not null`, ...askedIn(scope)])}
    union all select parents.parent_run_id, began, ended from asked
      join runs as parents on parents.id = asked.run_id where parents.parent_run_id is not null),
  ordered as (select run_id, began, ended,
    max(ended) over (partition by run_id order by began, ended rows between unbounded preceding and 1 preceding) as reached from asked)
  select run_id, sum(case when reached is null or reached <= began then ended - began
    when reached >= ended then 0 else ended - reached end) as waited_ms from ordered group by run_id) as waits`;

/** The runs of a scope with how long they waited, or those of them that did. */
export const joinWaits = (timed: Timed, scope: Scope): RawBuilder<unknown> => {
  if (timed === 'total') return sql``;
  return sql`${timed === 'machine' ? sql`left join` : sql`join`} ${waits(scope)} on waits.run_id = runs.id`;
};
