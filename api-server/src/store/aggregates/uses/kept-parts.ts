import type { Kysely } from 'kysely';
import type { Tables } from '../../db/schema.ts';
import type { Part } from './packed-runs.ts';

/** Parts of one read: few, so that other requests run between two of them. */
const PARTS = 10;
/** Bytes of the parts that are kept of one database, about half a million runs. */
const MOST_BYTES = 16 * 2 ** 20;

/** Parts by their day and number, those that were read last at the end. */
interface Kept {
  parts: Map<string, Part>;
  bytes: number;
}
type Key = Pick<Tables['packed_runs'], 'day' | 'part'>;

const byDatabase = new WeakMap<object, Kept>();

/** The parts of the packed days from one to before another, some at a time. They never change: each is read once while there is room. */
export async function* packedParts(
  db: Kysely<Tables>,
  { from, to }: { from: number; to: number },
  most = MOST_BYTES,
): AsyncGenerator<readonly Part[]> {
  // Readers of one database have it in common, whatever signals they listen to.
  const { adapter } = db.getExecutor();
  const kept = byDatabase.get(adapter) ?? { parts: new Map(), bytes: 0 };
  byDatabase.set(adapter, kept);
  const keys = await db
    .selectFrom('packed_runs')
    .select(['day', 'part'])
    .where('day', '>=', from)
    .where('day', '<', to)
    .orderBy('day')
    .orderBy('part')
    .execute();
  for (let at = 0; at < keys.length; at += PARTS) {
    const some = keys.slice(at, at + PARTS);
    const missing = some.filter((key) => !kept.parts.has(nameOf(key)));
    const read = missing.length === 0 ? new Map<string, Part>() : await readParts(db, missing);
    const parts = some.flatMap((key) => {
      const part = kept.parts.get(nameOf(key)) ?? read.get(nameOf(key));
      if (part) keep(kept, nameOf(key), part);
      return part ?? [];
    });
    forgetOldest(kept, most);
    yield parts;
  }
}

const nameOf = ({ day, part }: Key): string => `${day} ${part}`;

async function readParts(db: Kysely<Tables>, keys: readonly Key[]): Promise<Map<string, Part>> {
  const rows = await db
    .selectFrom('packed_runs')
    .selectAll()
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple('day', 'part'),
        'in',
        keys.map(({ day, part }) => tuple(day, part)),
      ),
    )
    .execute();
  return new Map(rows.map((row) => [nameOf(row), { day: row.day, body: row.body }]));
}

/** As the one that was read last. */
function keep(kept: Kept, name: string, part: Part): void {
  if (!kept.parts.delete(name)) kept.bytes += part.body.byteLength;
  kept.parts.set(name, part);
}

function forgetOldest(kept: Kept, most: number): void {
  for (const [name, { body }] of kept.parts) {
    if (kept.bytes <= most) return;
    kept.parts.delete(name);
    kept.bytes -= body.byteLength;
  }
}
