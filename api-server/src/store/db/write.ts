import type { Write } from '../../runs/state/records.ts';
import type { Eventually, Tx } from './database.ts';

type Job = (tx: Tx) => Eventually<unknown>;

/** What the store knows of a `Write`: the statements behind it. */
class StoreWrite implements Write {
  readonly madeBy = 'store';
  readonly job: Job;
  /** Whether what it does next depends on an answer. */
  readonly waits: boolean;
  constructor(job: Job, waits: boolean) {
    this.job = job;
    this.waits = waits;
  }
}

export const toWrite = (job: Job): Write => new StoreWrite(job, true);

/** A write of one statement: those behind it are sent before its answer is there. */
export const toStatement = (job: Job): Write => new StoreWrite(job, false);

const areOfStore = (writes: readonly Write[]): writes is readonly StoreWrite[] =>
  writes.every((write) => write instanceof StoreWrite);

/** Performs writes in the caller's transaction, in their order; at once where the database answers at once. */
export function perform(tx: Tx, writes: readonly Write[]): Eventually<void> {
  if (!areOfStore(writes)) throw new TypeError('the store did not make this write');
  const sent: Promise<unknown>[] = [];
  for (const [index, { job, waits }] of writes.entries()) {
    const done = job(tx);
    if (!(done instanceof Promise)) continue;
    sent.push(done);
    if (waits) return Promise.all(sent).then(() => perform(tx, writes.slice(index + 1)));
  }
  if (sent.length > 0) return Promise.all(sent).then(() => undefined);
}
