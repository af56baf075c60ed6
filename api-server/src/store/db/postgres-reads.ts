import { AppError } from '@signalbox/crds';
import { type Kysely, PostgresAdapter } from 'kysely';
import pg from 'pg';
import { postgres } from './dialect.ts';
import { type Answer, connectionSettings, kyselyOver, prepare, type Query, serversOwn } from './postgres-connection.ts';
import type { Tables } from './schema.ts';
import { createGate } from './turns.ts';

/** Queries that may wait for a connection. */
const MAX_WAITING = 256;
const READ_LIMITS = { statement: 30_000, lock: 10_000 };

/**
 * One question takes one core of the server and leaves the others to what comes in; to compile it takes longer than to answer it. What
 * is asked is in memory or on a disk without heads, where an index costs less than to read all of a table.
 */
const SETTINGS = 'SET jit = off; SET max_parallel_workers_per_gather = 0; SET random_page_cost = 1.1';
const isSet = new WeakSet<pg.PoolClient>();

export function openPool(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({ ...connectionSettings(url, READ_LIMITS), max, idleTimeoutMillis: 60_000 });
  // Without a listener an idle connection that the server ends would end the process; the pool replaces it by itself.
  pool.on('error', () => undefined);
  // The same for one that ends under a read, when the pool does not listen: the read itself hears of it.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

interface LongReadsOptions {
  url: string;
  connections: number;
  /** Where the server is told that an answer is not wanted any more. */
  cancelBy: pg.Pool;
}

export interface LongReads {
  /** Committed state on connections for what takes long; the server stops what `signal` gives up. */
  reader(signal: AbortSignal): Kysely<Tables>;
  end(): Promise<void>;
}

export function openLongReads({ url, connections, cancelBy }: LongReadsOptions): LongReads {
  const pool = openPool(url, connections);
  const gate = createGate({ places: connections, maxWaiting: MAX_WAITING });
  const adapter = new PostgresAdapter();
  return {
    reader: (signal) =>
      kyselyOver((query) => gate(signal, () => untilAborted(read(pool, query, { signal, cancelBy }), signal)), {
        transactions: false,
        adapter,
      }),
    end: () => pool.end(),
  };
}

/** Who gave up has an answer at once, also where the server cannot be reached. */
function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const giveUp = () => reject(noAnswer(signal.reason));
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  return promise;
}

interface Caller {
  signal: AbortSignal;
  /** Where the server is told that the answer is not wanted any more. */
  cancelBy: pg.Pool;
}

/** Reads change nothing, so one whose connection ended is asked again. */
export async function read(pool: pg.Pool, query: Query, caller?: Caller): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const client = await pool.connect().catch((cause: unknown) => Promise.reject(noAnswer(cause)));
    try {
      const answer = await ask(client, query, caller);
      client.release();
      return answer;
    } catch (error) {
      const reported = serversOwn(error);
      const fault = postgres.faultOf(reported);
      client.release(fault !== 'job');
      if (fault === 'job') throw reported;
      if (fault === 'unavailable' || tries > READ_RETRIES) throw noAnswer(reported);
    }
  }
}

/** Ends the query on the server when its caller gives up. The connection serves no other query before that is done. */
async function ask(client: pg.PoolClient, query: Query, caller?: Caller): Promise<Answer> {
  if (caller?.signal.aborted) throw noAnswer(caller.signal.reason);
  let cancelled: Promise<unknown> = Promise.resolve();
  const cancel = () => {
    const { processID } = client as pg.PoolClient & { processID: number };
    cancelled = caller ? caller.cancelBy.query('SELECT pg_cancel_backend($1)', [processID]) : cancelled;
    cancelled.catch(() => undefined);
  };
  caller?.signal.addEventListener('abort', cancel, { once: true });
  try {
    if (!isSet.has(client)) {
      await client.query(SETTINGS);
      isSet.add(client);
    }
    return await client.query(prepare(query));
  } finally {
    caller?.signal.removeEventListener('abort', cancel);
    await cancelled.catch(() => undefined);
  }
}

/** After a restart of the server each pooled connection may be found dead once. */
const READ_RETRIES = 8;

const noAnswer = (cause: unknown) => new AppError('unavailable', 'the database does not answer; try again', { cause });
