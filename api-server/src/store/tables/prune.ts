import type { ExpressionBuilder } from 'kysely';
import { ACTIVE_RUN_STATUSES } from '../../runs/state/model.ts';
import type { Database } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { lockPins } from './replay/golden-members.ts';
import { forget } from './search/index-runs.ts';

const BATCH = 500;
const DAY_MS = 86_400_000;

/** A replay renders a pinned step again from its whole run: the context, the definition and the answers before it. */
const isPinned = ({ exists, selectFrom }: ExpressionBuilder<Tables, 'runs'>) =>
  exists(selectFrom('golden_members').select('golden_members.id').whereRef('golden_members.run_id', '=', 'runs.id'));

/**
 * Removes runs that ended more than `days` ago with all that hangs on them, in small transactions. Roll-ups stay as they
 * are, and so do runs with a step that is pinned in a golden set.
 */
export async function pruneRuns(database: Database, days: number, now: number): Promise<number> {
  const before = now - days * DAY_MS;
  let removed = 0;
  for (;;) {
    const old = await database.db
      .selectFrom('runs')
      .select('id')
      .where('completed_at', '<', before)
      .where('status', 'not in', ACTIVE_RUN_STATUSES)
      .where((run) => run.not(isPinned(run)))
      .limit(BATCH)
      .execute();
    if (old.length === 0) return removed;
    const ids = old.map(({ id }) => id);
    await database.write(async (tx) => {
      await lockPins(tx);
      const gone = await tx.db
        .deleteFrom('runs')
        .where('id', 'in', ids)
        .where((run) => run.not(isPinned(run)))
        .returning('seq')
        .execute();
      if (gone.length > 0)
        await forget(
          tx,
          gone.map(({ seq }) => seq),
        );
    });
    removed += ids.length;
  }
}

export async function pruneAudit(database: Database, days: number, now: number): Promise<number> {
  const before = now - days * DAY_MS;
  const { numDeletedRows } = await database.write((tx) =>
    tx.db.deleteFrom('audit').where('ts', '<', before).executeTakeFirst(),
  );
  return Number(numDeletedRows);
}
