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
import type { DatabaseLocation } from './database.ts';
import type { ThreadAnswer, ThreadFault, ThreadMessage, ThreadTask } from './reader-worker.ts';
import type { Tables } from './schema.ts';
import type { TextPage, TextShape } from './texts/text-page.ts';
import { busy, createTurns, gaveUp, ownerOf, type Waiting } from './turns.ts';

/** Queries that may wait for the thread; the page of insights asks for about fifteen. */
const MAX_WAITING = 256;
/** What a statement of the server gets, too. */
const TIMEOUT_MS = 30_000;

/** So that one long query does not hold all others. */
const THREADS = 2;
/** After which a thread without work ends, and gives its memory back. Longer than its connections to a server stay idle. */
const IDLE_MS = 120_000;

export interface ReaderThreads {
  /** Reads what is committed, off the event loop; gives up when `signal` says so. */
  reader(signal: AbortSignal): Kysely<Tables>;
  /** What a module answers there. */
  ask(module: URL, input: unknown, signal: AbortSignal): Promise<unknown>;
  /** Begins no query any more, does the work once none is left, and goes on. */
  quietly(work: () => Promise<void>): void;
  /** The same as a page of text, which is made there too. */
  readText(query: CompiledQuery, as: TextShape, signal: AbortSignal): Promise<TextPage>;
  close(): Promise<void>;
}

/** What V8 may fill with short-lived objects before it looks for garbage; by default that is as much as an export makes. */
const YOUNG_MIB = 4;
/** More than any question needs. V8 looks for garbage the sooner the less it may have: without a bound a thread keeps a hundred MB more. */
const OLD_MIB = 256;

interface Options {
  at: DatabaseLocation;
  threads?: number;
  timeoutMs?: number;
  maxWaiting?: number;
  idleMs?: number;
}

/** What a thread answers that did not fail. */
type Read = Exclude<ThreadAnswer, { error: unknown }>;

interface Asked extends Waiting {
  task: ThreadTask;
  resolve(read: Read): void;
}

/** One thread, started with its first query. */
interface Thread {
  /** The query that it works on. */
  readonly current: Asked | null;
  run(query: Asked): void;
  /** The answer is not wanted any more. */
  giveUp(): void;
  close(): Promise<void>;
}

/**
 * Threads that answer the queries which would hold the event loop up. Callers take turns: a page that asks for much waits for
 * itself alone. SQLite cannot be stopped in the middle of a query: who gave up has an answer at once, the next one waits for its turn.
 */
export function createReaderThreads(options: Options): ReaderThreads {
  const { at, threads = THREADS, timeoutMs = TIMEOUT_MS, maxWaiting = MAX_WAITING, idleMs = IDLE_MS } = options;
  const queue = createTurns<Asked>(maxWaiting);
  let closed = false;
  let quiet: { work: () => Promise<void>; hasBegun: boolean } | null = null;
  const beQuiet = async () => {
    if (!quiet || quiet.hasBegun || pool.some(({ current }) => current !== null)) return;
    quiet.hasBegun = true;
    try {
      await quiet.work();
    } finally {
      quiet = null;
      next();
    }
  };
  const next = () => {
    if (quiet) return void beQuiet();
    for (const thread of pool) {
      const query = thread.current === null ? queue.take() : null;
      if (query) thread.run(query);
    }
  };
  const pool = Array.from({ length: threads }, () => createThread(at, { free: next, idleMs }));
  const query = async <T extends Read>(task: ThreadTask, caller: AbortSignal): Promise<T> => {
    if (closed) throw busy();
    if (caller.aborted) throw gaveUp(caller.reason);
    const { promise, resolve, reject } = Promise.withResolvers<Read>();
    const entry: Asked = { task, resolve, reject, owner: ownerOf(caller) };
    const giveUp = () => {
      queue.leave(entry);
      for (const thread of pool) if (thread.current === entry) thread.giveUp();
      reject(gaveUp(caller.reason));
    };
    // Both end with the query: what they hold would keep its rows in memory.
    const timer = setTimeout(giveUp, timeoutMs);
    caller.addEventListener('abort', giveUp);
    queue.add(entry);
    next();
    try {
      return (await promise) as T;
    } finally {
      clearTimeout(timer);
      caller.removeEventListener('abort', giveUp);
    }
  };

  return {
    reader: (signal) =>
      kyselyOver(async (compiled) => (await query<{ rows: unknown[] }>(questionOf(compiled), signal)).rows),
    ask: async (module, input, signal) =>
      (await query<{ answer: unknown }>({ module: module.href, input }, signal)).answer,
    readText: async (compiled, as, signal) =>
      (await query<{ page: TextPage }>({ ...questionOf(compiled), as }, signal)).page,
    quietly: (work) => {
      quiet ??= { work, hasBegun: false };
      next();
    },
    close: async () => {
      closed = true;
      for (let entry = queue.take(); entry; entry = queue.take()) entry.reject(busy());
      await Promise.all(pool.map((thread) => thread.close()));
    },
  };
}

function createThread(at: DatabaseLocation, { free, idleMs }: { free(): void; idleMs: number }): Thread {
  let worker: Worker | null = null;
  let current: Asked | null = null;
  let idle: NodeJS.Timeout | undefined;
  const end = async () => {
    const ending = worker;
    worker = null;
    ending?.removeAllListeners('exit');
    await ending?.terminate();
  };
  const settle = (how: (query: Asked) => void) => {
    clearTimeout(idle);
    const query = current;
    current = null;
    if (query) how(query);
    idle = setTimeout(() => void end(), idleMs).unref();
    free();
  };
  const gone = (cause: unknown) => {
    worker = null;
    settle(({ reject }) => reject(new AppError('unavailable', 'a reading thread ended; try again', { cause })));
  };
  const start = () => {
    const started = new Worker(new URL('./reader-worker.ts', import.meta.url), {
      workerData: at,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB, maxOldGenerationSizeMb: OLD_MIB },
    });
    started.unref();
    started.on('message', (answer: ThreadAnswer) =>
      settle(({ resolve, reject }) => ('error' in answer ? reject(errorOf(answer)) : resolve(answer))),
    );
    started.once('error', (error) => {
      started.removeAllListeners('exit');
      gone(error);
    });
    started.once('exit', gone);
    return started;
  };
  return {
    get current() {
      return current;
    },
    run: (query) => {
      clearTimeout(idle);
      current = query;
      worker ??= start();
      worker.postMessage(query.task satisfies ThreadMessage, []);
    },
    giveUp: () => worker?.postMessage('give up' satisfies ThreadMessage, []),
    close: async () => {
      clearTimeout(idle);
      current?.reject(busy());
      current = null;
      await end();
    },
  };
}

const errorOf = ({ error, type }: ThreadFault) => (type ? new AppError(type, error) : new Error(error));

const questionOf = ({ sql, parameters }: CompiledQuery) => ({
  sql,
  parameters: parameters as SQLInputValue[],
});

/** Kysely that compiles here and runs there. */
function kyselyOver(run: (query: CompiledQuery) => Promise<unknown[]>): Kysely<Tables> {
  const refuse = () => Promise.reject(new Error('a reading thread has no transactions'));
  const connection = {
    executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => ({
      rows: (await run(query)) as R[],
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
