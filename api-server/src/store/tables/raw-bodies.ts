import { createHash } from 'node:crypto';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Kysely } from 'kysely';
import type { RawDelivery } from '../../runs/state/records.ts';
import type { Database, Tx } from '../db/database.ts';
import type { RawBodyRow, RunRow, Tables } from '../db/schema.ts';
import { statement } from '../db/statement.ts';
import { inBatches } from './retention/in-batches.ts';

/** A shorter delivery stays in the row of its run, which is one statement less. */
const MAX_IN_ROW = 4096;

const insertBody = statement<RawBodyRow>((db, slot) =>
  db
    .insertInto('raw_bodies')
    .values({ hash: slot.hash, body: slot.body, stored_at: slot.stored_at })
    .onConflict((conflict) => conflict.column('hash').doUpdateSet({ stored_at: slot.stored_at })),
);

const packed = new WeakMap<RawDelivery, Pick<RawBodyRow, 'hash' | 'body'>>();

/** A memo and nothing else: all runs of a delivery share one object. */
function pack(raw: RawDelivery): Pick<RawBodyRow, 'hash' | 'body'> {
  const known = packed.get(raw) ?? {
    hash: createHash('sha256').update(raw.json).digest('hex'),
    body: zstdCompressSync(raw.json),
  };
  packed.set(raw, known);
  return known;
}

/** Keeps a delivery once for all its runs; answers what the row of the run says of it. */
export async function keepRaw(
  tx: Tx,
  raw: RawDelivery | null,
  storedAt: number,
): Promise<Pick<RunRow, 'raw' | 'raw_hash'>> {
  if (raw === null || raw.json.length <= MAX_IN_ROW) return { raw: raw && raw.json, raw_hash: null };
  const { hash, body } = pack(raw);
  await tx.run(insertBody, { hash, body, stored_at: storedAt });
  return { raw: null, raw_hash: hash };
}

/** The delivery of a run as it came; null where none was kept. */
export async function readRaw(db: Kysely<Tables>, { raw, raw_hash: hash }: Pick<RunRow, 'raw' | 'raw_hash'>) {
  if (raw !== null) return JSON.parse(raw) as unknown;
  if (hash === null) return null;
  const row = await db.selectFrom('raw_bodies').select('body').where('hash', '=', hash).executeTakeFirst();
  return row ? (JSON.parse(zstdDecompressSync(row.body).toString()) as unknown) : null;
}

const DAY_MS = 86_400_000;

/** Hashes that one look goes through. */
const LOOK = 500;

/** Removes deliveries whose runs are gone; one that came again today may be about to start a run. */
export async function pruneRaw(database: Database, now: number): Promise<number> {
  for (let [removed, after] = [0, '']; ;) {
    const looked = await database.db
      .selectFrom('raw_bodies')
      .select('hash')
      .where('hash', '>', after)
      .orderBy('hash')
      .limit(LOOK)
      .execute();
    const hashes = looked.map(({ hash }) => hash);
    removed += hashes.length > 0 ? await removeUnused(database, hashes, now - DAY_MS) : 0;
    if (hashes.length < LOOK) return removed;
    after = hashes.at(-1) ?? after;
  }
}

const removeUnused = (database: Database, hashes: readonly string[], before: number): Promise<number> =>
  inBatches(database, async (tx, most, from) => {
    const some = hashes.slice(from, from + most);
    const { numDeletedRows } = await tx.db
      .deleteFrom('raw_bodies')
      .where('hash', 'in', some)
      .where('stored_at', '<', before)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('runs').select('runs.id').whereRef('runs.raw_hash', '=', 'raw_bodies.hash'))),
      )
      .executeTakeFirst();
    return { removed: Number(numDeletedRows), seen: some.length, more: from + some.length < hashes.length };
  });
