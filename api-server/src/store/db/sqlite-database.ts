import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { AppError } from '@signalbox/crds';
import { createCheckpointThread } from './checkpoints/checkpoint-thread.ts';
import { identityOf } from './checkpoints/file-identity.ts';
import { collectChanged } from './changed-counters.ts';
import { bumpCounter } from './counters.ts';
import type { Database, DatabaseOptions, Tx } from './database.ts';
import { sqlite } from './dialect.ts';
import { fileInPlace } from './file-in-place.ts';
import { GroupCommit, type Transactions } from './group-commit.ts';
import { createHealth } from './health.ts';
import { addHourlyRun, addHourlyStep, collectHourly } from './hourly-sums.ts';
import { migrate } from './migrate.ts';
import { makePrivate } from './private-file.ts';
import { createReaderThreads } from './reader-threads.ts';
import { openConnection, type SqliteConnection } from './sqlite-connection.ts';
import { compile, type Compiled, type Statement } from './statement.ts';

/** For how long jobs may block the event loop, up to the end of the one that passes it. */
const TURN_MS = 50;

/** Opens the embedded database: one process at a time, WAL, synchronous FULL read back. */
export async function openSqlite(options: DatabaseOptions & { file: string }): Promise<Database> {
  const lock = takeLock(options.file);
  const writer = openConnection(options.file, { readOnly: false });
  try {
    // Migrations need no fsync of their own: the first commit after them has one for all, and a power cut before it undoes whole ones.
    configure(writer, 'NORMAL');
    await migrate(writer.kysely, options);
    configure(writer, options.synchronous ?? 'FULL');
  } catch (error) {
    await writer.kysely.destroy();
    lock.close();
    throw error;
  }
  const reader = openConnection(options.file, { readOnly: true });
  const threads = createReaderThreads({ at: { file: options.file } });
  const inPlace = fileInPlace(options.file, options.now);
  // A reader keeps the log as it is. The commit after its end must not be the one that moves all of it.
  checkpointAfter(writer, 0);
  const checkpoints = createCheckpointThread(
    { file: options.file, identity: identityOf(options.file) },
    {
      finish: (most) => finishCheckpoint(writer, most),
      quietly: threads.quietly,
      gone: () => checkpointAfter(writer, OWN_CHECKPOINT),
    },
  );
  const changed = collectChanged();
  const transactions = transactionsOn(writer, { inPlace, changed: changed.add, committed: checkpoints.committed });
  const commits = new GroupCommit<Tx>(transactions, { mostMs: TURN_MS, now: () => performance.now() });
  return {
    db: reader.kysely,
    reader: threads.reader,
    ask: threads.ask,
    readText: threads.readText,
    write: (job) => commits.write(job),
    changedCounters: changed.take,
    giveBack: () => commits.write(() => giveBack(writer)),
    // A file without writes cannot become unhealthy.
    healthy: createHealth(commits, { now: options.now, trustedMs: Infinity }),
    fileInPlace: inPlace,
    close: async () => {
      await commits.drained();
      await Promise.all([threads.close(), checkpoints.close()]);
      await reader.kysely.destroy();
      await writer.kysely.destroy();
      lock.close();
    },
  };
}

/** Pages of the log after which the writing connection makes a checkpoint by itself: where no thread does so. */
const OWN_CHECKPOINT = 8000;

const checkpointAfter = ({ raw }: SqliteConnection, pages: number): void =>
  raw.exec(`PRAGMA wal_autocheckpoint = ${pages}`);

/** What cannot be done now, with a transaction open or the disk full, is tried again after the next checkpoint of the thread. */
function finishCheckpoint({ raw }: SqliteConnection, most: number): boolean {
  if (raw.isTransaction) return false;
  try {
    const log = raw.prepare('PRAGMA wal_checkpoint(NOOP)').get();
    if (Number(log?.['log']) - Number(log?.['checkpointed']) > most) return false;
    raw.exec('PRAGMA wal_checkpoint(PASSIVE)');
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'errcode' in error)) throw error;
    return false;
  }
}

/** For a new file alone: before its first table. */
const INCREMENTAL = 2;

function configure({ raw }: SqliteConnection, synchronous: 'FULL' | 'NORMAL'): void {
  raw.exec(`PRAGMA auto_vacuum = ${INCREMENTAL}; PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA foreign_keys = ON;
    PRAGMA wal_autocheckpoint = ${OWN_CHECKPOINT}; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 67108864`);
  const expected = { journal_mode: 'wal', synchronous: synchronous === 'FULL' ? 2 : 1, foreign_keys: 1 };
  for (const [pragma, value] of Object.entries(expected)) {
    const actual = raw.prepare(`PRAGMA ${pragma}`).get()?.[pragma];
    if (actual !== value)
      throw new Error(`database.url: PRAGMA ${pragma} is ${String(actual)} where ${value} is needed`);
  }
}

/** Free pages that new rows may take, and pages that one transaction gives back. */
const KEPT_FREE = 256;
const GIVEN_BACK = 64;

/** A file of before version 0.2.0 has no `auto_vacuum` and keeps its size; new rows take its free pages. */
function giveBack({ raw }: SqliteConnection): number {
  const valueOf = (pragma: string) => Number(raw.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
  if (valueOf('auto_vacuum') !== INCREMENTAL || valueOf('freelist_count') <= KEPT_FREE) return 0;
  raw.exec(`PRAGMA incremental_vacuum(${GIVEN_BACK})`);
  return GIVEN_BACK;
}

/** The lock is an open exclusive transaction on a file beside the database: it ends with the process, however that ends. */
function takeLock(file: string): DatabaseSync {
  const lock = openLock(file);
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
    return lock;
  } catch (cause) {
    lock.close();
    throw new Error(`database.url: ${file} is in use by another process`, { cause });
  }
}

function openLock(file: string): DatabaseSync {
  try {
    mkdirSync(dirname(file), { recursive: true });
    // SQLite gives its -wal and -shm files the mode of the database.
    for (const each of [file, `${file}.lock`]) makePrivate(each);
    return new DatabaseSync(`${file}.lock`);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`database.url: ${dirname(file)} must be a folder that this user may write to (${reason})`, {
      cause,
    });
  }
}

const GONE = 'the database file was deleted or replaced; put it back, or restart the service';

interface Watching {
  inPlace(): boolean;
  /** A roll-up was stored. */
  changed(row: { metric: string; labels: string }): void;
  committed(): void;
}

/** Roll-ups of a transaction are summed in memory and written once, with its commit. */
function transactionsOn(writer: SqliteConnection, { inPlace, changed, committed }: Watching): Transactions<Tx> {
  const [begin, commit] = [writer.raw.prepare('BEGIN IMMEDIATE'), writer.raw.prepare('COMMIT')];
  const statements = statementsOn(writer);
  const sums = new Map<string, { metric: string; labels: string; value: number }>();
  const hourly = collectHourly();
  return {
    begin: () => {
      if (!inPlace()) throw new AppError('unavailable', GONE);
      sums.clear();
      hourly.clear();
      begin.run();
    },
    commit: () => {
      for (const sum of sums.values()) statements.run(bumpCounter, sum);
      for (const row of hourly.runs()) statements.run(addHourlyRun, row);
      for (const row of hourly.steps()) statements.run(addHourlyStep, row);
      commit.run();
      for (const sum of sums.values()) changed(sum);
      committed();
    },
    rollback: () => writer.raw.exec('ROLLBACK'),
    faultOf: sqlite.faultOf,
    tx: {
      ...statements,
      // The only writing connection holds the whole database already.
      lock: () => undefined,
      epoch: null,
      notify: () => undefined,
      count: ({ metric, labels: list, value }) => {
        const labels = JSON.stringify(list);
        const key = `${metric}\n${labels}`;
        const known = sums.get(key);
        if (known) known.value += value;
        else sums.set(key, { metric, labels, value });
      },
      sum: hourly.add,
    },
  };
}

function statementsOn(
  connection: SqliteConnection,
): Pick<Tx, 'db' | 'all'> & { run<P>(query: Statement<P, unknown>, input: P): number } {
  const ready = new Map<Statement<never, unknown>, { compiled: Compiled<never>; prepared: StatementSync }>();
  const prepared = <P>(query: Statement<P, unknown>, input: P) => {
    const key = query as Statement<never, unknown>;
    let entry = ready.get(key);
    if (!entry) {
      const compiled = compile(connection.kysely, query) as Compiled<never>;
      entry = { compiled, prepared: connection.raw.prepare(compiled.sql) };
      ready.set(key, entry);
    }
    return { statement: entry.prepared, values: entry.compiled.bind(input as never) as SQLInputValue[] };
  };
  const run = <P>(query: Statement<P, unknown>, input: P) => {
    const { statement, values } = prepared(query, input);
    return Number(statement.run(...values).changes);
  };
  return {
    db: connection.kysely,
    all: <P, R>(query: Statement<P, R>, input: P) => {
      const { statement, values } = prepared(query, input);
      return statement.all(...values) as R[];
    },
    run,
  };
}
