import { AppError } from '@signalbox/crds';

/** What a job may touch: filled in by the database. */
export type Job<Tx, T> = (tx: Tx) => T | Promise<T>;

export interface Transactions<Tx> {
  begin(): void;
  /** Returns after the fsync. */
  commit(): void;
  rollback(): void;
  readonly tx: Tx;
}

interface Waiting<Tx> {
  job: Job<Tx, unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** Jobs that share one transaction at most, and jobs that may wait. */
export const MAX_BATCH = 512;
export const MAX_WAITING = 20_000;

/**
 * Runs the jobs of one event-loop turn in one transaction, so that they share its fsync (Design 8).
 * A job may run twice: when one of a batch throws, all are rolled back and each runs alone.
 */
export class GroupCommit<Tx> {
  #transactions: Transactions<Tx>;
  #waiting: Waiting<Tx>[] = [];
  #scheduled = false;
  #healthy = true;
  #idle: (() => void)[] = [];

  constructor(transactions: Transactions<Tx>) {
    this.#transactions = transactions;
  }

  /** False from a failed commit until the next one that worked. */
  get healthy(): boolean {
    return this.#healthy;
  }

  /** Resolves with the job's result once it is durable; rejects, with nothing stored, when it is not. */
  write<T>(job: Job<Tx, T>): Promise<T> {
    if (this.#waiting.length >= MAX_WAITING) {
      return Promise.reject(new AppError('unavailable', 'the database cannot keep up; try again'));
    }
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ job, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    while (this.#waiting.length > 0 || this.#scheduled) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => void this.#flush());
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = batch.splice(MAX_BATCH);
    const failed = await this.#attempt(batch);
    if (failed !== undefined) {
      if (batch.length === 1) batch[0]?.reject(failed);
      else await this.#oneByOne(batch);
    }
    this.#scheduled = false;
    if (this.#waiting.length > 0) this.#schedule();
    else for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #oneByOne(batch: Waiting<Tx>[]): Promise<void> {
    for (const waiting of batch) {
      const failed = await this.#attempt([waiting]);
      if (failed !== undefined) waiting.reject(failed);
    }
  }

  /** Runs the jobs in one transaction; answers them and returns undefined, or returns the error with nothing stored. */
  async #attempt(batch: Waiting<Tx>[]): Promise<unknown> {
    const { tx } = this.#transactions;
    const results: unknown[] = [];
    let ranAll = false;
    try {
      this.#transactions.begin();
      for (const { job } of batch) {
        const result = job(tx);
        results.push(result instanceof Promise ? await result : result);
      }
      ranAll = true;
      this.#transactions.commit();
    } catch (error) {
      this.#rollback();
      if (ranAll || isStorageError(error)) this.#healthy = false;
      return error instanceof AppError || !isStorageError(error)
        ? error
        : new AppError('unavailable', 'the database does not accept writes; nothing was stored', { cause: error });
    }
    this.#healthy = true;
    for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
    return undefined;
  }

  #rollback(): void {
    try {
      this.#transactions.rollback();
    } catch {
      // SQLite has already rolled back after a failed commit.
      this.#healthy = false;
    }
  }
}

const isStorageError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
