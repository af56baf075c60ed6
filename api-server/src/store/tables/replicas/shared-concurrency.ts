import type { ConcurrencyGroup } from '../../../runs/state/concurrency-group.ts';
import { ACTIVE_RUN_STATUSES } from '../../../runs/state/model.ts';
import { askToCancel, inside, groupLock } from './claims.ts';
import type { Tx } from '../../db/database.ts';

/** The free places of a concurrency group, by what all processes have stored; no other transaction decides until this one ends. */
export async function placesLeft(tx: Tx, { key, limit }: ConcurrencyGroup): Promise<number> {
  await tx.lock(groupLock(key));
  const all = await tx.db
    .selectFrom('lane_places')
    .innerJoin('runs', 'runs.id', 'lane_places.run_id')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('lane', '=', key)
    .where('status', 'in', ACTIVE_RUN_STATUSES)
    .executeTakeFirstOrThrow();
  return limit - all.n;
}

/** Gives a stored run its place, or lets it wait for one. */
export async function joinGroup(tx: Tx, { key, limit }: ConcurrencyGroup, { runId, entered }: Placing): Promise<void> {
  await tx.db
    .insertInto('lane_places')
    .values({ run_id: runId, lane: key, places: limit, entered: Number(entered) })
    .onConflict((conflict) => conflict.column('run_id').doUpdateSet({ entered: Number(entered) }))
    .execute();
}

export interface Placing {
  runId: string;
  entered: boolean;
}

/** For concurrency groups in which the newest run wins: asks for the end of the one that is in it the longest. */
export async function makeRoom(tx: Tx, { key }: ConcurrencyGroup, runId: string): Promise<void> {
  const oldest = await tx.db
    .selectFrom('lane_places')
    .innerJoin('runs', 'runs.id', 'lane_places.run_id')
    .select('runs.id')
    .where('lane', '=', key)
    .where('entered', '=', 1)
    .where('status', 'in', ACTIVE_RUN_STATUSES)
    .where('runs.id', '!=', runId)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  if (oldest) await askToCancel(tx, oldest.id, `run ${runId} of the same key`);
}

/** One try of a sub-run, whose parent waits with it: true once it has a place. */
export async function enterGroup(tx: Tx, group: ConcurrencyGroup, runId: string): Promise<boolean> {
  await tx.lock(groupLock(group.key));
  const known = await tx.db.selectFrom('lane_places').select('entered').where('run_id', '=', runId).executeTakeFirst();
  if (known?.entered === 1) return true;
  const entered = (await inside(tx, group.key)) < group.limit;
  if (!known || entered) await joinGroup(tx, group, { runId, entered });
  if (!known && !entered && group.onLimit === 'cancel_running') await makeRoom(tx, group, runId);
  return entered;
}

/** Queued runs without an owner. */
export async function countWaiting(tx: Tx): Promise<number> {
  const row = await tx.db
    .selectFrom('runs')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('status', '=', 'queued')
    .where('owner', 'is', null)
    .executeTakeFirstOrThrow();
  return row.n;
}
