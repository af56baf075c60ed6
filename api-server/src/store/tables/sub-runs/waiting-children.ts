import type { Kysely } from 'kysely';
import type { RunRow, Tables } from '../../db/schema.ts';

/** Of live runs, the sub-run that makes each wait for a person: one that waits itself, or whose own sub-run does. */
export async function waitingChildren(
  db: Kysely<Tables>,
  runs: readonly Pick<RunRow, 'id' | 'completed_at' | 'waiting_on'>[],
): Promise<Map<string, string>> {
  const asking = runs.filter((run) => run.completed_at === null && run.waiting_on === null).map(({ id }) => id);
  if (asking.length === 0) return new Map();
  const children = await db
    .selectFrom('runs')
    .select(['id', 'parent_run_id', 'completed_at', 'waiting_on'])
    .where('parent_run_id', 'in', asking)
    .where('status', '=', 'running')
    .orderBy('seq', 'desc')
    .execute();
  const below = await waitingChildren(db, children);
  const waiting = children.filter(({ id, waiting_on: whom }) => whom !== null || below.has(id));
  return new Map(waiting.map(({ id, parent_run_id: parent }) => [parent ?? '', id]));
}

/** The row as a reader sees it: a run whose sub-run waits does so too. */
export const asWaiting = <Row extends Pick<RunRow, 'id' | 'waiting_on'>>(
  row: Row,
  children: ReadonlyMap<string, string>,
): Row => {
  const child = children.get(row.id);
  return child === undefined ? row : { ...row, waiting_on: `run:${child}` };
};
