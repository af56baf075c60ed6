import type { ExpressionBuilder, Kysely } from 'kysely';
import { isTerminal, type RunStatus } from '../../runs/state/model.ts';
import type { Database, Tx } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { lockPins } from './replay/golden-members.ts';
import { inBatches } from './retention/in-batches.ts';
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
 * are, and so do runs with a step that is pinned in a golden set.
 */
export async function pruneRuns(database: Database, days: number, now: number): Promise<number> {
  const before = now - days * DAY_MS;
  let [removed, after] = [0, 0];
  for (;;) {
    const { ids, last, more } = await oldRuns(database.db, after, before);
    removed += ids.length > 0 ? await removeRuns(database, ids) : 0;
    if (!more) return removed;
    after = last;
  }
}

const removeRuns = (database: Database, ids: readonly string[]): Promise<number> =>
  inBatches(database, async (tx, most, from) => {
    await lockPins(tx);
    const some = ids.slice(from, from + most);
    const gone = await tx.db
      .deleteFrom('runs')
      .where('id', 'in', some)
      .where((run) => run.not(isPinned(run)))
      .returning(['seq', 'pipeline_name', 'stage', 'triggered_at'])
      .execute();
    const seqs = gone.map(({ seq }) => seq);
    if (seqs.length > 0) await forget(tx, seqs);
    await unpackDays(tx, gone);
    return { removed: seqs.length, seen: some.length, more: from + some.length < ids.length };
  });

type Gone = Pick<Tables['runs'], 'pipeline_name' | 'stage' | 'triggered_at'>;

/** What is packed up to the days of these runs goes: what is left of such days is read from rows. */
async function unpackDays({ db }: Tx, gone: readonly Gone[]): Promise<void> {
  for (const runs of Map.groupBy(gone, (run) => `${run.stage} ${run.pipeline_name}`).values()) {
    const [{ pipeline_name, stage }] = runs as [Gone];
    await db
      .deleteFrom('packed_evidence')
      .where('pipeline_name', '=', pipeline_name)
      .where('stage', '=', stage)
      .where('day', '<=', Math.max(...runs.map((run) => run.triggered_at)))
      .execute();
  }
}

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
