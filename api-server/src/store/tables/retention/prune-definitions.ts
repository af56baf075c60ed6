import { createRest } from '@signalbox/crds/process/rest';
import type { Database } from '../../db/database.ts';
import { inBatches } from './in-batches.ts';

const DAY_MS = 86_400_000;

/** A run that begins touches its definition when it was not touched for an hour. Clocks of replicas differ by less than the rest. */
const UNTOUCHED_MS = 2 * DAY_MS;

/** Runs that one look goes through. */
const LOOK = 500;

/** Removes definitions with which no run began that is kept. What a run begins with again meanwhile was touched in its transaction. */
export async function pruneDefinitions(database: Database, now: number): Promise<number> {
  const before = now - UNTOUCHED_MS;
  const old = await database.db.selectFrom('definitions').select('hash').where('stored_at', '<', before).execute();
  const unused = new Set(old.map(({ hash }) => hash));
  await dropUsed(database, unused);
  const hashes = [...unused];
  if (hashes.length === 0) return 0;
  return inBatches(database, async (tx, most, from) => {
    const some = hashes.slice(from, from + most);
    const { numDeletedRows } = await tx.db
      .deleteFrom('definitions')
      .where('hash', 'in', some)
      .where('stored_at', '<', before)
      .executeTakeFirst();
    return { removed: Number(numDeletedRows), seen: some.length, more: from + some.length < hashes.length };
  });
}

/** No index has the hashes of runs: they are read in their order, outside of a transaction, while a hash is left that none has. */
async function dropUsed({ db }: Pick<Database, 'db'>, unused: Set<string>): Promise<void> {
  const rest = createRest();
  for (let after = 0; unused.size > 0;) {
    const rows = await db
      .selectFrom('runs')
      .select(['seq', 'definition_hash'])
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(LOOK)
      .execute();
    for (const row of rows) unused.delete(row.definition_hash);
    if (rows.length < LOOK) return;
    after = rows.at(-1)?.seq ?? after;
    await rest();
  }
}
