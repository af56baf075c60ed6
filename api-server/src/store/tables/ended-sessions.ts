import type { Database } from '../db/database.ts';

/** Sessions that were logged out of, for every process of this database; those whose time is over are forgotten with the next. */
export const endedSessions = ({ db, write }: Pick<Database, 'db' | 'write'>, now: () => number) => ({
  has: async (id: string): Promise<boolean> => {
    const row = await db.selectFrom('ended_sessions').select('id').where('id', '=', id).executeTakeFirst();
    return row !== undefined;
  },
  add: (id: string, expiresAt: number): Promise<void> =>
    write(async (tx) => {
      await tx.db.deleteFrom('ended_sessions').where('expires_at', '<=', now()).execute();
      const row = { id, expires_at: expiresAt };
      await tx.db
        .insertInto('ended_sessions')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }),
});
