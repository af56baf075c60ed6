import { type Kysely, sql } from 'kysely';
import { ACTIVE_RUN_STATUSES } from '../../../runs/state/model.ts';
import type { Tx } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';

/** Runs that one query takes into view; those that wait in concurrency groups that turn out to be full are among them. */
const IN_VIEW = 500;
/** Queries of one look: runs that wait in full groups must not keep it from those behind them. */
const MOST_QUERIES = 20;
/** Full groups that a query leaves out. */
const MOST_LEFT_OUT = 500;

/** Releases the runs of replicas whose lease has expired; a replica that is writing at the moment is left for the next look. */
export async function releaseDead(tx: Tx): Promise<number> {
  const dead = await tx.db
    .selectFrom('replicas')
    .select('epoch')
    .where('expires_at', '<', sql<number>`(extract(epoch FROM clock_timestamp()) * 1000)::bigint`)
    .where('epoch', '!=', tx.epoch)
    .forUpdate()
    .skipLocked()
    .execute();
  if (dead.length === 0) return 0;
  const epochs = dead.map(({ epoch }) => epoch);
  await tx.db
    .updateTable('runs')
    .set({ owner: null })
    .where('owner', 'in', epochs)
    .where('status', 'in', ACTIVE_RUN_STATUSES)
    .execute();
  await tx.db.deleteFrom('replicas').where('epoch', 'in', epochs).execute();
  return epochs.length;
}

/** Releases the runs of this replica, which it must have stopped. */
export async function releaseOwn(tx: Tx): Promise<void> {
  await tx.db
    .updateTable('runs')
    .set({ owner: null })
    .where('owner', '=', tx.epoch)
    .where('status', 'in', ACTIVE_RUN_STATUSES)
    .execute();
  await tx.notify('work');
}

interface Waiting {
  id: string;
  seq: number;
  asked_by: string | null;
  lane: string | null;
  places: number | null;
  entered: number | null;
}

/**
 * Claims runs without an owner, the oldest first, at most `limit` and those that are only to be cancelled; each with its
 * sub-runs. No two replicas take the same one. Answers all their ids.
 */
export async function claimRuns(tx: Tx, limit: number): Promise<string[]> {
  const groups = groupAdmissions(tx);
  const taken: string[] = [];
  let room = limit;
  let after = -1;
  for (let queries = 1; queries <= MOST_QUERIES; queries += 1) {
    const waiting = await inView(tx, { limit, after, full: groups.full() });
    const wanted = await choose(waiting, { room, groups });
    taken.push(...wanted.ids);
    room = wanted.room;
    after = waiting.at(-1)?.seq ?? after;
    if (room <= 0 || waiting.length < IN_VIEW) break;
  }
  return taken.length === 0 ? [] : own(tx, taken);
}

/** Those of these runs that this process takes, and the room that is left. */
async function choose(
  waiting: readonly Waiting[],
  { room: most, groups }: { room: number; groups: ReturnType<typeof groupAdmissions> },
): Promise<{ ids: string[]; room: number }> {
  const ids: string[] = [];
  let room = most;
  for (const run of waiting) {
    const wanted = run.asked_by !== null || (room > 0 && (await groups.letsIn(run)));
    if (!wanted) continue;
    if (run.asked_by === null) room -= 1;
    ids.push(run.id);
  }
  return { ids, room };
}

interface View {
  limit: number;
  /** The last run that was looked at. */
  after: number;
  full: readonly string[];
}

/** The next runs without an owner, but for those that wait in these groups. */
const inView = (tx: Tx, { limit, after, full }: View): Promise<Waiting[]> =>
  tx.db
    .selectFrom('runs')
    .leftJoin('cancellations', 'cancellations.run_id', 'runs.id')
    .leftJoin('lane_places', 'lane_places.run_id', 'runs.id')
    .select(['runs.id', 'seq', 'asked_by', 'lane', 'places', 'entered'])
    .where('status', 'in', ACTIVE_RUN_STATUSES)
    .where('owner', 'is', null)
    .where('seq', '>', after)
    .$if(full.length > 0, (query) =>
      query.where(({ or, eb }) =>
        or([
          eb('lane', 'is', null),
          eb('lane', 'not in', full.slice(0, MOST_LEFT_OUT)),
          eb('entered', '=', 1),
          eb('asked_by', 'is not', null),
        ]),
      ),
    )
    .$if(limit === 0, (ending) => ending.where('asked_by', 'is not', null))
    .where(({ or, eb, not, exists, selectFrom }) =>
      or([
        eb('parent_run_id', 'is', null),
        // A sub-run goes with its parent; one whose parent has ended goes alone.
        not(
          exists(
            selectFrom('runs as parent')
              .select('parent.id')
              .whereRef('parent.id', '=', 'runs.parent_run_id')
              .where('parent.status', 'in', ACTIVE_RUN_STATUSES),
          ),
        ),
      ]),
    )
    .orderBy('seq')
    .limit(IN_VIEW)
    .forUpdate('runs')
    .skipLocked()
    .execute();

/** Whether a run may enter its concurrency group now; the same concurrency group is looked at once. */
function groupAdmissions(tx: Tx) {
  const free = new Map<string, number>();
  return {
    full: () => [...free].flatMap(([group, left]) => (left <= 0 ? [group] : [])),
    letsIn: async ({ id, lane: group, places, entered }: Waiting): Promise<boolean> => {
      if (group === null || entered === 1) return true;
      const left = free.get(group) ?? (await freePlaces(tx, group, places ?? 1));
      free.set(group, left - 1);
      if (left <= 0) return false;
      await tx.db.updateTable('lane_places').set({ entered: 1 }).where('run_id', '=', id).execute();
      return true;
    },
  };
}

/** None where another process decides about this concurrency group at the moment. */
async function freePlaces(tx: Tx, group: string, places: number): Promise<number> {
  const { rows } = await sql<{ taken: boolean }>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${groupLock(group)}, 0)) AS taken`.execute(tx.db);
  return rows[0]?.taken ? places - (await inside(tx, group)) : 0;
}

/** The name under which a concurrency group is decided about, by whatever process. */
export const groupLock = (group: string): string => `lane ${group}`;

/** Live runs that have a place in the concurrency group. */
export async function inside(tx: Tx, group: string): Promise<number> {
  const row = await tx.db
    .selectFrom('lane_places')
    .innerJoin('runs', 'runs.id', 'lane_places.run_id')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('lane', '=', group)
    .where('entered', '=', 1)
    .where('status', 'in', ACTIVE_RUN_STATUSES)
    .executeTakeFirstOrThrow();
  return row.n;
}

async function own(tx: Tx, roots: readonly string[]): Promise<string[]> {
  const all: string[] = [...roots];
  await tx.db.updateTable('runs').set({ owner: tx.epoch }).where('id', 'in', roots).execute();
  let parents: readonly string[] = roots;
  while (parents.length > 0) {
    const children = await tx.db
      .updateTable('runs')
      .set({ owner: tx.epoch })
      .where('parent_run_id', 'in', parents)
      .where('status', 'in', ACTIVE_RUN_STATUSES)
      .returning('id')
      .execute();
    parents = children.map(({ id }) => id);
    all.push(...parents);
  }
  return all;
}

/** Asks the owner of the run to cancel it; false where it has ended or is unknown. */
export async function askToCancel(tx: Tx, runId: string, by: string): Promise<boolean> {
  const live = await tx.db
    .selectFrom('runs')
    .select('id')
    .where('id', '=', runId)
    .where('status', 'in', ACTIVE_RUN_STATUSES)
    .execute();
  if (live.length === 0) return false;
  await tx.db
    .insertInto('cancellations')
    .values({ run_id: runId, asked_by: by })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await tx.notify('look');
  return true;
}

/** The runs of an epoch with a request to cancel. */
export async function askedToCancel(db: Kysely<Tables>, epoch: number): Promise<{ runId: string; by: string }[]> {
  const rows = await db
    .selectFrom('cancellations')
    .innerJoin('runs', 'runs.id', 'cancellations.run_id')
    .select(['run_id', 'asked_by'])
    .where('owner', '=', epoch)
    .where('status', 'in', ACTIVE_RUN_STATUSES)
    .execute();
  return rows.map(({ run_id: runId, asked_by: by }) => ({ runId, by }));
}
