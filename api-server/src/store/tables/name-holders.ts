import type { Kysely } from 'kysely';
import type { Tx } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { setMark } from './marks.ts';

/** Who had a name of a definition last: a namespace, or the empty text for the operator. */
export interface NameHolder {
  kind: string;
  name: string;
  namespace: string;
}

const PREFIX = 'name';

/** Neither kinds, names nor namespaces have spaces. */
const markOf = ({ kind, name, namespace }: NameHolder): string => [PREFIX, kind, name, namespace].join(' ');

/** Who has each name, the newest last where a name has two. */
export async function nameHolders(db: Kysely<Tables>): Promise<NameHolder[]> {
  const rows = await db
    .selectFrom('marks')
    .select('name')
    .where('name', 'like', `${PREFIX} %`)
    .orderBy('value')
    .execute();
  return rows.map(({ name: mark }) => {
    const [, kind = '', name = '', namespace = ''] = mark.split(' ');
    return { kind, name, namespace };
  });
}

/** Stores who has a name now, in place of who had it. */
export async function setNameHolder(
  tx: Tx,
  { now, before, at }: { now: NameHolder; before: string | undefined; at: number },
): Promise<void> {
  if (before !== undefined)
    await tx.db
      .deleteFrom('marks')
      .where('name', '=', markOf({ ...now, namespace: before }))
      .execute();
  await setMark(tx, markOf(now), at);
}
