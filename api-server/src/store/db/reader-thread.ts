import type { SQLInputValue } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { AppError } from '@signalbox/crds';
import {
  type CompiledQuery,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { ThreadAnswer, ThreadQuery } from './reader-worker.ts';
import type { Tables } from './schema.ts';

/** Queries that may wait for the thread; the page of insights asks for about fifteen. */
const MAX_WAITING = 256;
/** What a statement of the server gets, too. */
const TIMEOUT_MS = 30_000;

export interface ReaderThread {
  /** Reads what is committed, off the event loop; gives up when `signal` says so. */
  reader(signal: AbortSignal): Kysely<Tables>;
  close(): Promise<void>;
}

interface Options {
  file: string;
  timeoutMs?: number;
  maxWaiting?: number;
}

interface Waiting extends ThreadQuery {
  resolve(rows: unknown[]): void;
  reject(error: unknown): void;
}

/**
 * A thread that answers the queries which would hold the event loop up, one at a time, started with the first of
 * them. SQLite cannot be stopped in the middle of a query: who gave up has an answer at once, the next one waits for its turn.
 */
export function createReaderThread({ file, timeoutMs = TIMEOUT_MS, maxWaiting = MAX_WAITING }: Options): ReaderThread {
  const waiting: Waiting[] = [];
  let worker: Worker | null = null;
  let current: Waiting | null = null;
  let closed = false;

  const next = () => {
    current = waiting.shift() ?? null;
    if (!current) return;
    worker ??= start();
    const { sql, parameters } = current;
    worker.postMessage({ sql, parameters } satisfies ThreadQuery, []);
  };
  const answered = (answer: ThreadAnswer) => {
    if ('rows' in answer) current?.resolve(answer.rows);
    else current?.reject(new Error(answer.error));
    next();
  };
  const gone = (error: unknown) => {
    worker = null;
    current?.reject(new AppError('unavailable', 'the reading thread ended; try again', { cause: error }));
    next();
  };
  const start = () => {
    const started = new Worker(new URL('./reader-worker.ts', import.meta.url), { workerData: file });
    started.unref();
    started.on('message', answered);
    started.once('error', (error) => {
      started.removeAllListeners('exit');
      gone(error);
    });
    started.once('exit', gone);
    return started;
  };
  const query = async (sql: string, parameters: readonly SQLInputValue[], caller: AbortSignal) => {
    if (closed || waiting.length >= maxWaiting) throw busy();
    if (caller.aborted) throw gaveUp(caller.reason);
    const { promise, resolve, reject } = Promise.withResolvers<unknown[]>();
    const entry: Waiting = { sql, parameters, resolve, reject };
    const giveUp = () => {
      const at = waiting.indexOf(entry);
      if (at !== -1) waiting.splice(at, 1);
      reject(gaveUp(caller.reason));
    };
    // Both end with the query: what they hold would keep its rows in memory.
    const timer = setTimeout(giveUp, timeoutMs);
    caller.addEventListener('abort', giveUp);
    waiting.push(entry);
    if (!current) next();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      caller.removeEventListener('abort', giveUp);
    }
  };

  return {
    reader: (signal) => kyselyOver((sql, parameters) => query(sql, parameters as SQLInputValue[], signal)),
    close: async () => {
      closed = true;
      for (const { reject } of waiting.splice(0)) reject(busy());
      const left = worker;
      left?.removeAllListeners('exit');
      current?.reject(busy());
      current = null;
      await left?.terminate();
    },
  };
}

const busy = () => new AppError('unavailable', 'too many statistics are asked for at once; try again');
const gaveUp = (cause: unknown) => new AppError('unavailable', 'the statistics took too long', { cause });

/** Kysely that compiles here and runs there. */
function kyselyOver(run: (sql: string, parameters: readonly unknown[]) => Promise<unknown[]>): Kysely<Tables> {
  const refuse = () => Promise.reject(new Error('the reading thread has no transactions'));
  const connection = {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => ({
      rows: (await run(sql, parameters)) as R[],
    }),
    streamQuery: () => {
      throw new Error('the store streams nothing');
    },
  };
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createDriver: () => ({
        init: () => Promise.resolve(),
        acquireConnection: () => Promise.resolve(connection),
        beginTransaction: refuse,
        commitTransaction: refuse,
        rollbackTransaction: refuse,
        releaseConnection: () => Promise.resolve(),
        destroy: () => Promise.resolve(),
      }),
    },
  });
}
