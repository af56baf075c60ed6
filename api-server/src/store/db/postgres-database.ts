import { setTimeout as sleep } from 'node:timers/promises';
import type { CompiledQuery, Kysely } from 'kysely';
import pg from 'pg';
import { hasPacked } from './bodies/packed-body.ts';
import type { Database, DatabaseOptions, Tx } from './database.ts';
import { postgres } from './dialect.ts';
import type { Outcome } from './faults.ts';
import { GroupCommit } from './group-commit.ts';
import { createHealth } from './health.ts';
import { migrate } from './migrate.ts';
import { connectionSettings, kyselyOver, openSession, serversOwn, type Session } from './postgres-connection.ts';
import { openLongReads, openPool, read } from './postgres-reads.ts';
import { createWriter } from './postgres-writer.ts';
import { createReaderThreads } from './reader-threads.ts';
import type { Tables } from './schema.ts';
import { type KeyedRow, type TextPage, textPage, type TextShape } from './texts/text-page.ts';

const READERS = 8;
/** For statistics, searches and counts: however many are asked for, the others have connections of their own. */
const LONG_READERS = 3;
/** A process that hangs inside a transaction blocks a takeover until the server ends it; that happens before a lease is over. */
const WRITE_LIMITS = { statement: 15_000, lock: 5_000, idle: 5_000 };
/** Migrations may rebuild tables; a second replica waits as long as the first needs. */
const MIGRATION_LIMITS = { statement: 0, lock: 0 };
/** Any number that no other advisory lock uses. */
const MIGRATION_LOCK = '7165218850271234419';
const OLDEST_VERSION = 130_000;
const OUTCOME_RETRY_MS = 250;
/** A readiness probe trusts a write of this age. */
const TRUSTED_MS = 5_000;

/** Opens a Postgres database: one connection that writes, a few that read, both found again after a failover. */
export async function openPostgres(options: DatabaseOptions & { url: string }): Promise<Database> {
  await prepareSchema(options);
  const pool = openPool(options.url, READERS);
  const long = openLongReads({ url: options.url, connections: LONG_READERS, cancelBy: pool });
  const closing = new AbortController();
  const threads = createReaderThreads({ at: { url: options.url } });
  const writer = createWriter({
    fenced: options.fenced ?? true,
    connect: () => openSession(connectionSettings(options.url, WRITE_LIMITS)),
    outcome: (transactionId) => outcomeOf(pool, transactionId, closing.signal),
  });
  const commits = new GroupCommit<Tx>(writer);
  const reader = (caller: AbortSignal) => long.reader(AbortSignal.any([caller, closing.signal]));
  return {
    db: kyselyOver((query) => read(pool, query), { transactions: false }),
    reader,
    ask: threads.ask,
    readText: (query, as, signal) => readText(reader(signal), query, as),
    write: (job) => commits.write(job),
    fileInPlace: () => true,
    writeAs: writer.writeAs,
    healthy: createHealth(commits, { now: options.now, trustedMs: TRUSTED_MS }),
    close: async () => {
      closing.abort();
      await commits.drained();
      await writer.close();
      // The first one ends the queries of the second.
      await Promise.all([threads.close(), long.end()]);
      await pool.end();
    },
  };
}

/** The body of a run comes once, and not with each of its steps. */
async function readText(db: Kysely<Tables>, query: CompiledQuery, as: TextShape): Promise<TextPage> {
  const { rows } = await db.executeQuery<KeyedRow>(query);
  const packed = new Set(rows.filter(hasPacked).map((row) => Number(row.page_key)));
  if (packed.size === 0) return textPage(rows, as);
  const read = await db
    .selectFrom('run_bodies')
    .selectAll()
    .where('seq', 'in', [...packed])
    .execute();
  const bodies = new Map(read.map(({ seq, body }) => [seq, body]));
  // A run without its body was removed between the two reads.
  const still = rows.filter(({ page_key: key }) => !packed.has(Number(key)) || bodies.has(Number(key)));
  return textPage(still, as, (key) => bodies.get(key));
}

/** Migrates on a connection of its own under a session lock, so that replicas that start together do not collide. */
async function prepareSchema(options: DatabaseOptions & { url: string }): Promise<void> {
  let session: Session;
  try {
    session = await openSession(connectionSettings(options.url, MIGRATION_LIMITS));
  } catch (error) {
    throw new Error(`database.url: ${placeOf(options.url)} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
  try {
    const { rows } = await session.query({ text: `SELECT current_setting('server_version_num')::int AS version` });
    const version = (rows[0] as { version: number } | undefined)?.version ?? 0;
    if (version < OLDEST_VERSION)
      throw new Error(`database.url: Postgres 13 or newer is needed, the server is ${version}`);
    await session.query({ text: `SELECT pg_advisory_lock(${MIGRATION_LOCK})` });
    await migrate(
      kyselyOver((query) => session.query(query), { transactions: true }),
      options,
    );
  } finally {
    await session.end();
  }
}

async function outcomeOf(pool: pg.Pool, transactionId: string, closing: AbortSignal): Promise<Outcome> {
  while (!closing.aborted) {
    try {
      const { rows } = await pool.query<{ status: string | null }>('SELECT pg_xact_status($1::xid8) AS status', [
        transactionId,
      ]);
      const status = rows[0]?.status;
      if (status !== 'in progress') return status === 'committed' ? 'committed' : 'not_committed';
    } catch (error) {
      // The server answers, but does not know the transaction: another one took over without it.
      if (postgres.faultOf(serversOwn(error)) === 'job') return 'not_committed';
    }
    await sleep(OUTCOME_RETRY_MS, undefined, { signal: closing }).catch(() => undefined);
  }
  return 'unknown';
}

/** Host, port and database: what a message may say of a url. */
function placeOf(url: string): string {
  const { host, port, database } = new pg.Client({ connectionString: url });
  return `${host}:${port}/${database ?? ''}`;
}

function reasonOf(error: unknown): string {
  const root = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (root instanceof AggregateError) return reasonOf(root.errors[0]);
  return root instanceof Error ? root.message.split('\n')[0] || root.name : String(root);
}
