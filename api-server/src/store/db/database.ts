import type { CompiledQuery, Kysely } from 'kysely';
import type { HourlySum } from './rows/hourly-rows.ts';
import type { Counter } from '../../runs/state/records.ts';
import type { TakeChanged } from './changed-counters.ts';
import type { Eventually, Job } from './group-commit.ts';
import type { Tables } from './schema.ts';
import type { Statement } from './statement.ts';
import type { TextPage, TextShape } from './texts/text-page.ts';

export type { Eventually };

/** What a write job works with; nothing it does is visible to readers before the commit. */
export interface Tx {
  readonly db: Kysely<Tables>;
  all<P, R>(query: Statement<P, R>, input: P): Eventually<R[]>;
  /** Number of rows changed. */
  run<P>(query: Statement<P, unknown>, input: P): Eventually<number>;
  /**
   * No other transaction gets the lock of the same name until this one ends. A job that reads and then writes what it
   * concluded takes one first: in Postgres other processes write at the same time.
   */
  lock(name: string): Eventually<void>;
  /**
   * Under which epoch this process writes; null where it does not share its database. In Postgres the transaction
   * has seen that this epoch still holds, and keeps it from ending before the transaction does.
   */
  readonly epoch: number | null;
  /** Sends a message to all processes that share the database, once this transaction is stored. */
  notify(message: string): Eventually<void>;
  /** Adds to a roll-up, at the latest with the commit; the job itself does not read it. */
  count(counter: Counter): void;
  /** The same for the sums of an hour. */
  sum(hourly: HourlySum): void;
}

export interface Database {
  /** Committed state, for reads; no transactions. */
  readonly db: Kysely<Tables>;
  /**
   * The same for what may take over 20 ms: off the event loop, with a bound on what waits. Rejects with
   * `unavailable` when `signal` says so, after half a minute, and when too many wait.
   */
  reader(signal: AbortSignal): Kysely<Tables>;
  /**
   * The answer of a module to `input`, made with what it computes off the event loop where a thread reads. Both are plain data, which
   * the caller knows the type of.
   */
  ask(module: URL, input: unknown, signal: AbortSignal): Promise<unknown>;
  /** The same for rows with a `page_key`, as one page of text: where the thread reads, it also makes the text. */
  readText(query: CompiledQuery, as: TextShape, signal: AbortSignal): Promise<TextPage>;
  /**
   * Group commit: resolves after the fsync. A job may run several times and must not wait for anything
   * but the database. Rejects with `unavailable` where the database refuses or cannot be reached, `conflict` where a
   * unique index refuses the row for good, and with what the job threw.
   */
  write<T>(job: Job<Tx, T>): Promise<T>;
  /** For the one who keeps the values of roll-ups. The embedded database only: a server tells by its rows what changed. */
  changedCounters?: TakeChanged;
  /** From now on writes are made under this epoch, and refused once it is over; `none` refuses them all. Postgres only. */
  writeAs?(epoch: number | 'none'): void;
  /** Whether the last contact worked; asking while it did not, or long after, makes a new one. */
  healthy(): boolean;
  /** Gives some free pages of the embedded file back to the disk; answers how many, 0 once few are left. A server does that by itself. */
  giveBack?(): Promise<number>;
  /** False once the embedded file was deleted or replaced: nothing is written then. Always true for a server. */
  fileInPlace(): boolean;
  close(): Promise<void>;
}

/** What a module has that is asked with `ask`. */
export interface Question {
  answer(db: Kysely<Tables>, input: unknown): Promise<unknown>;
}

export interface DatabaseOptions {
  autoMigrate: boolean;
  now: () => number;
  /** Anything but FULL may lose accepted webhooks at a power cut; for the test that shows it. */
  synchronous?: 'FULL' | 'NORMAL';
  /** False lets writes pass after others have taken over; for the test that shows it. */
  fenced?: boolean;
}

/** `file`: absolute path of the embedded database; its folder is created. `url`: a Postgres server. */
export type DatabaseLocation = { file: string } | { url: string };
