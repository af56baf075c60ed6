import type { ExpressionBuilder, Kysely } from 'kysely';
import { isTerminal, type RunStatus } from '../../runs/state/model.ts';
import { firstOpenDay } from '../aggregates/daily/closed-days.ts';
import type { Database, Tx } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { fitting, MOST_STEPS, stepCounts } from './bodies/step-counts.ts';
import { lockPins } from './replay/golden-members.ts';
import { keptFrom, noteRemoval } from './retention/kept-days.ts';
import { inBatches } from './retention/in-batches.ts';
import { noteRemoving, removeNoted } from './retention/remove-large.ts';
import { forget } from './search/index-runs.ts';

const DAY_MS = 86_400_000;

/** A replay renders a pinned step again from its whole run: the context, the definition and the answers before it. */
const isPinned = ({ exists, selectFrom }: ExpressionBuilder<Tables, 'runs'>) =>
  exists(selectFrom('golden_members').select('golden_members.id').whereRef('golden_members.run_id', '=', 'runs.id'));

/** Runs that one look goes through. */
const LOOK = 200;
/** A run cannot have ended before it was triggered, and clocks differ by less. */
const SLACK_MS = DAY_MS;

/** The next runs in the order of their start, and which of them ended before `before`. */
async function oldRuns(db: Kysely<Tables>, after: number, before: number) {
  const rows = await db
    .selectFrom('runs')
    .select(['id', 'seq', 'status', 'triggered_at', 'completed_at'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(LOOK)
    .execute();
  const old = rows.filter(
    ({ status, completed_at: at }) => at !== null && at < before && isTerminal(status as RunStatus),
  );
  const more = rows.length === LOOK && rows.some((row) => row.triggered_at < before + SLACK_MS);
  return { ids: old.map(({ id }) => id), last: rows.at(-1)?.seq ?? after, more };
}

/**
 * Removes runs that ended more than `days` ago with all that hangs on them, the oldest first, in small transactions. Roll-ups stay as they
 * are, and so do runs with a step that is pinned in a golden set, and those that ended after a day began that is not summed yet.
 */
export async function pruneRuns(database: Database, days: number, now: number): Promise<number> {
  const before = Math.min(now - days * DAY_MS, (await firstOpenDay(database.db)) ?? Infinity);
  await noteRemoval(database, before);
  let [removed, after] = [await removeNoted(database), 0];
  for (;;) {
    const { ids, last, more } = await oldRuns(database.db, after, before);
    removed += ids.length > 0 ? await removeRuns(database, ids) : 0;
    if (!more) break;
    after = last;
  }
  await removePacked(database, await keptFrom(database.db));
  return removed;
}

async function removeRuns(database: Database, ids: readonly string[]): Promise<number> {
  const counts = await stepCounts(database.db, ids);
  const isLarge = (id: string) => (counts.get(id) ?? 0) > MOST_STEPS;
  const small = ids.filter((id) => !isLarge(id)).map((id) => ({ id }));
  const removed = await inBatches(database, async (tx, most, from) => {
    const some = fitting(small.slice(from, from + most), counts).map(({ id }) => id);
    return { removed: await removeSmall(tx, some), seen: some.length, more: from + some.length < small.length };
  });
  for (const id of ids.filter(isLarge)) await database.write((tx) => beginLarge(tx, id));
  return removed + (await removeNoted(database));
}

async function removeSmall(tx: Tx, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  await lockPins(tx);
  const gone = await tx.db
    .deleteFrom('runs')
    .where('id', 'in', ids)
    .where((run) => run.not(isPinned(run)))
    .returning('seq')
    .execute();
  const seqs = gone.map(({ seq }) => seq);
  if (seqs.length > 0) await forget(tx, seqs);
  return seqs.length;
}

async function beginLarge(tx: Tx, id: string): Promise<void> {
  await lockPins(tx);
  const run = await tx.db
    .selectFrom('runs')
    .select('seq')
    .where('id', '=', id)
    .where((one) => one.not(isPinned(one)))
    .executeTakeFirst();
  if (!run) return;
  await forget(tx, [run.seq]);
  await noteRemoving(tx, id);
}

/** Nothing reads what is packed of these days any more: what is left of them is read from rows. */
const removePacked = (database: Database, before: number): Promise<number> =>
  inBatches(database, async ({ db }, most) => {
    const { numDeletedRows } = await db
      .deleteFrom('packed_evidence')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('pipeline_name', 'stage', 'day', 'part'),
          'in',
          selectFrom('packed_evidence')
            .select(['pipeline_name', 'stage', 'day', 'part'])
            .where('day', '<', before)
            .limit(most)
            .$asTuple('pipeline_name', 'stage', 'day', 'part'),
        ),
      )
      .executeTakeFirst();
    const removed = Number(numDeletedRows);
    return { removed, seen: removed, more: removed === most };
  });

export function pruneAudit(database: Database, days: number, now: number): Promise<number> {
  const before = now - days * DAY_MS;
  return inBatches(database, async (tx, most) => {
    const { numDeletedRows } = await tx.db
      .deleteFrom('audit')
      .where('id', 'in', (some) => some.selectFrom('audit').select('id').where('ts', '<', before).limit(most))
      .executeTakeFirst();
    const removed = Number(numDeletedRows);
    return { removed, seen: removed, more: removed === most };
  });
}
