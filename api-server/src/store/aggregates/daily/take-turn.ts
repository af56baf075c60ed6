import { AppError } from '@signalbox/crds';
import type { Database, Tx } from '../../db/database.ts';
import { lastMark, setMark } from '../../tables/marks.ts';

/** Writes in the turn of who took it; rejects once another process has taken the next one, which may not know of this one. */
export type InTurn = (job: (tx: Tx) => Promise<unknown>) => Promise<void>;

/** Begins a turn at work that is stored by many transactions, of which those of two processes must not mix. */
export async function takeTurn(database: Pick<Database, 'write'>, work: string): Promise<InTurn> {
  const name = `${work}:turn`;
  const locked = async (tx: Tx): Promise<number> => {
    await tx.lock(name);
    return (await lastMark(tx.db, name)) ?? 0;
  };
  const turn = await database.write(async (tx) => {
    const mine = (await locked(tx)) + 1;
    await setMark(tx, name, mine);
    return mine;
  });
  return (job) =>
    database.write(async (tx) => {
      if ((await locked(tx)) !== turn) throw new AppError('conflict', 'another process has gone on with this work');
      await job(tx);
    });
}
