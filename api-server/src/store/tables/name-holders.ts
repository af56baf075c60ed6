import type { Kysely } from 'kysely';
import type { NameChange, NameHolder } from '../../definitions/name-holders.ts';
import type { Tx } from '../db/database.ts';
import type { Tables } from '../db/schema.ts';
import { setMark } from './marks.ts';

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

/** Stores who has names now, in place of who had them. */
export async function setNameHolders(tx: Tx, changes: readonly NameChange[], at: number): Promise<void> {
  for (const { now, before } of changes) {
    if (before !== undefined)
      await tx.db
        .deleteFrom('marks')
        .where('name', '=', markOf({ ...now, namespace: before }))
        .execute();
    await setMark(tx, markOf(now), at);
  }
}
