import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@signalbox/crds';
import { backoffMs } from '../../backoff.ts';
import { CommitInDoubt, type Fault } from './faults.ts';

/** SQLite answers at once, a server later. */
export type Eventually<T> = T | Promise<T>;

/** What a job may touch: filled in by the database. */
export type Job<Tx, T> = (tx: Tx) => T | Promise<T>;

/** `exclusive`: no other process has a transaction meanwhile, for a job that keeps losing races. */
export type Sharing = 'shared' | 'exclusive';

export interface Transactions<Tx> {
  begin(sharing: Sharing): Eventually<void>;
  /** Done after the fsync; throws `CommitInDoubt` where the outcome is unknown. */
  commit(): Eventually<void>;
  rollback(fault: Fault): Eventually<void>;
  faultOf(error: unknown): Fault;
  readonly tx: Tx;
}

interface Waiting<Tx> {
  job: Job<Tx, unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
  /** How often its commit was in doubt and turned out not to have happened. */
  undone: number;
}

interface Failure {
  fault: Fault;
  error: unknown;
  /** Where the transaction could not even begin, no other will now. */
  began: boolean;
}

/** Jobs that share one transaction at most, and jobs that may wait. */
export const MAX_BATCH = 512;
export const MAX_WAITING = 20_000;

/** Where jobs block the event loop: they go on in a later turn of it after so long. */
export interface Pace {
  mostMs: number;
  now(): number;
}
const NO_END: Pace = { mostMs: Infinity, now: () => 0 };

/** Further turns of the event loop that a job waits while others come. */
const MORE_TURNS = 2;

/** How often a job runs alone before its fault is its answer. */
const TRIES: Readonly<Record<Fault, number>> = { job: 1, unavailable: 1, conflict: 3, lost: 3, again: 8 };

/** After so many tries a job goes on without others. */
const RACES = 2;
/** Transactions that lost a race try again at different moments. */
const RACE_BACKOFF = { firstMs: 2, mostMs: 256, jitter: 1 };

/**
 * Runs the jobs of one event-loop turn, or of a few in which more come, in one transaction, so that they share its fsync.
 * Where they take long, the rest has the next transaction. A job may run several times: when one of a batch throws, all are rolled back
 * and each runs alone; a job that lost a race against another process, or its connection, runs again.
 */
export class GroupCommit<Tx> {
  #transactions: Transactions<Tx>;
  #pace: Pace;
  #waiting: Waiting<Tx>[] = [];
  #inDoubt = 0;
  #scheduled = false;
  #healthy = true;
  #idle: (() => void)[] = [];

  constructor(transactions: Transactions<Tx>, pace = NO_END) {
    this.#transactions = transactions;
    this.#pace = pace;
  }

  /** False from a refused write until the next one that worked. */
  get healthy(): boolean {
    return this.#healthy;
  }

  /** Resolves with the job's result once it is durable; rejects, with nothing stored, when it is not. */
  write<T>(job: Job<Tx, T>): Promise<T> {
    if (this.#waiting.length >= MAX_WAITING) {
      return Promise.reject(new AppError('unavailable', 'the database cannot keep up; try again'));
    }
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ job, resolve: resolve as (value: unknown) => void, reject, undone: 0 });
      this.#schedule();
    });
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    while (this.#waiting.length > 0 || this.#scheduled || this.#inDoubt > 0) {
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#gather(0, MORE_TURNS));
  }

  /** Waits while each turn brings more jobs: the fewer transactions, the fewer pages are written and synced. */
  #gather(known: number, turnsLeft: number): void {
    const count = this.#waiting.length;
    if (count === known || count >= MAX_BATCH || turnsLeft === 0) void this.#flush();
    else setImmediate(() => this.#gather(count, turnsLeft - 1));
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting;
    this.#waiting = batch.splice(MAX_BATCH);
    await this.#together(batch);
    this.#scheduled = false;
    if (this.#waiting.length > 0) this.#schedule();
    this.#tellIdle();
  }

  #tellIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #together(batch: Waiting<Tx>[]): Promise<void> {
    const failure = await this.#attempt(batch);
    if (failure?.fault !== 'again' || batch.length === 1) return this.#oneByOne(batch, failure);
    return this.#oneByOne(batch, await this.#attempt(batch, 'exclusive'));
  }

  /** `failure` is what became of them together. */
  async #oneByOne(batch: Waiting<Tx>[], first: Failure | undefined): Promise<void> {
    let failure = first;
    if (!failure) return;
    let isOver = this.#begin();
    for (const [index, waiting] of batch.entries()) {
      if (isOver()) {
        await nextTurn();
        isOver = this.#begin();
      }
      if (!failure.began && failure.fault === 'unavailable') {
        for (const { reject } of batch.slice(index)) reject(answerOf(failure));
        return;
      }
      failure = (await this.#alone(waiting, batch.length === 1 ? failure : undefined)) ?? failure;
    }
  }

  /** Runs one job until it has an answer; returns why it failed. `first` is what became of it already. */
  async #alone(waiting: Waiting<Tx>, first: Failure | undefined): Promise<Failure | undefined> {
    let failure = first ?? (await this.#attempt([waiting]));
    for (let tries = 1; failure && tries < TRIES[failure.fault]; tries += 1) {
      if (failure.fault === 'again') await sleep(backoffMs(tries, RACE_BACKOFF));
      failure = await this.#attempt([waiting], tries >= RACES ? 'exclusive' : 'shared');
    }
    if (failure) waiting.reject(answerOf(failure));
    return failure;
  }

  /** Whether what begins now has taken its time. */
  #begin(): () => boolean {
    const { mostMs, now } = this.#pace;
    const until = now() + mostMs;
    return () => now() >= until;
  }

  /**
   * Runs the jobs in one transaction; answers them and returns undefined, or returns why nothing is stored. Those for which there was no time
   * leave the batch and wait for the next.
   */
  async #attempt(batch: Waiting<Tx>[], sharing: Sharing = 'shared'): Promise<Failure | undefined> {
    const { tx } = this.#transactions;
    const results: unknown[] = [];
    let began = false;
    try {
      const begun = this.#transactions.begin(sharing);
      if (begun instanceof Promise) await begun;
      began = true;
      const isOver = this.#begin();
      for (const { job } of batch) {
        if (results.length > 0 && isOver()) break;
        const result = job(tx);
        results.push(result instanceof Promise ? await result : result);
      }
      this.#waiting.unshift(...batch.splice(results.length));
      const committed = this.#transactions.commit();
      if (committed instanceof Promise) await committed;
    } catch (error) {
      if (error instanceof CommitInDoubt) return void this.#awaitOutcome(batch, results, error);
      return this.#undo(error, began);
    }
    this.#answer(batch, results);
    return undefined;
  }

  #answer(batch: Waiting<Tx>[], results: unknown[]): void {
    this.#healthy = true;
    for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
  }

  /** The jobs wait for the truth while others go on: an accepted run must not be called refused. */
  async #awaitOutcome(batch: Waiting<Tx>[], results: unknown[], doubt: CommitInDoubt): Promise<void> {
    this.#healthy = false;
    this.#inDoubt += 1;
    const outcome = await doubt.settled;
    this.#inDoubt -= 1;
    if (outcome === 'committed') this.#answer(batch, results);
    else for (const waiting of batch) this.#afterDoubt(waiting, outcome, doubt);
    this.#tellIdle();
  }

  #afterDoubt(waiting: Waiting<Tx>, outcome: 'not_committed' | 'unknown', doubt: CommitInDoubt): void {
    waiting.undone += 1;
    if (outcome === 'unknown' || waiting.undone >= TRIES.lost) {
      return waiting.reject(answerOf({ fault: 'lost', error: doubt, began: true }));
    }
    this.#waiting.push(waiting);
    this.#schedule();
  }

  async #undo(error: unknown, began: boolean): Promise<Failure> {
    const found = this.#transactions.faultOf(error);
    const fault = began || found === 'again' ? found : 'unavailable';
    if (fault === 'unavailable' || fault === 'lost') this.#healthy = false;
    try {
      await this.#transactions.rollback(fault);
    } catch {
      // SQLite has already rolled back after a failed commit.
    }
    return { fault, error, began };
  }
}

function answerOf({ fault, error }: Failure): unknown {
  switch (fault) {
    case 'job':
      return error;
    case 'conflict':
      return new AppError('conflict', 'a row with this key is stored already', { cause: error });
    case 'again':
      return new AppError('unavailable', 'the database is busy; nothing was stored, try again', { cause: error });
    case 'lost':
    case 'unavailable':
      if (error instanceof AppError) return error;
      return new AppError('unavailable', 'the database does not accept writes; nothing was stored', { cause: error });
    default:
      return fault satisfies never;
  }
}
