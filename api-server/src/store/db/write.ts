import type { Write } from '../../runs/state/records.ts';
import type { Eventually, Tx } from './database.ts';

type Job = (tx: Tx) => Eventually<unknown>;

/** What the store knows of a `Write`: the statements behind it. */
class StoreWrite implements Write {
  readonly madeBy = 'store';
  readonly job: Job;
  constructor(job: Job) {
    this.job = job;
  }
}

export const toWrite = (job: Job): Write => new StoreWrite(job);

/** Performs writes in the caller's transaction, in their order; at once where the database answers at once. */
export function perform(tx: Tx, writes: readonly Write[]): Eventually<void> {
  for (const [index, write] of writes.entries()) {
    if (!(write instanceof StoreWrite)) throw new TypeError('the store did not make this write');
    const done = write.job(tx);
    if (done instanceof Promise) return done.then(() => perform(tx, writes.slice(index + 1)));
  }
}
