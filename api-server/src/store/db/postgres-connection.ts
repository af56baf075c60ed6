import {
  type CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult as KyselyResult,
} from 'kysely';
import pg from 'pg';
import { ConnectionLost } from './faults.ts';
import type { Tables } from './schema.ts';

/** Limits of one connection, in milliseconds; zero is none. */
export interface Limits {
  statement: number;
  lock: number;
  /** How long a transaction may stand still; as long as a statement where nothing is said. */
  idle?: number;
}

const CONNECT_MS = 3_000;
/** What the server should have ended by itself and has not is given up by us. */
const ANSWER_GRACE_MS = 5_000;

/** How long a farewell may take over a network that does not answer. */
const END_MS = 1_000;

/** 64-bit columns hold milliseconds and counts, and sums of them, which a number can. */
const parserOf = pg.types.getTypeParser as (oid: number, format?: string) => unknown;
const AS_NUMBER: ReadonlySet<number> = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);
const numbers: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => (AS_NUMBER.has(oid) ? Number : parserOf(oid, format)),
};

/** The client's settings for a url; `sslmode` and `sslrootcert` in it decide about TLS. */
export function connectionSettings(url: string, limits: Limits): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'signalbox',
    types: numbers,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: limits.statement,
    lock_timeout: limits.lock,
    idle_in_transaction_session_timeout: limits.idle ?? limits.statement,
    ...(limits.statement > 0 ? { query_timeout: limits.statement + ANSWER_GRACE_MS } : {}),
  };
}

export interface Answer {
  rows: unknown[];
  rowCount: number | null;
  command: string;
}

export interface Query {
  text: string;
  values?: readonly unknown[];
  /** Prepared once a connection under this name. */
  name?: string;
}

/** One connection of its own. */
export interface Session {
  query(query: Query): Promise<Answer>;
  /** False once the server or the network ended it. */
  readonly alive: boolean;
  end(): Promise<void>;
}

/** Rejects with `ConnectionLost`, or with the error of the server; `heard` gets the notifications of LISTEN. */
export async function openSession(settings: pg.ClientConfig, heard?: (word: string) => void): Promise<Session> {
  // Statements that do not wait for each other's answers go out together.
  const client = new pg.Client({ ...settings, pipeline: true });
  let alive = true;
  const gone = () => void (alive = false);
  // Without a listener a failover would end the process.
  client.on('error', gone);
  client.on('end', gone);
  if (heard) client.on('notification', ({ payload }) => heard(payload ?? ''));
  try {
    await client.connect();
  } catch (error) {
    throw serversOwn(error);
  }
  return {
    get alive() {
      return alive;
    },
    query: async (query) => {
      try {
        return await client.query(prepare(query));
      } catch (error) {
        const reported = serversOwn(error);
        if (reported instanceof ConnectionLost) gone();
        throw reported;
      }
    },
    end: async () => {
      const giveUp = setTimeout(() => client.connection.stream.destroy(), END_MS);
      await client.end().catch(() => undefined);
      clearTimeout(giveUp);
    },
  };
}

/** The wire form of a query: text in Postgres cannot hold NUL. */
export const prepare = ({ text, values = [], name }: Query): pg.QueryConfig => ({
  text,
  values: values.map((value) =>
    typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value,
  ),
  ...(name === undefined ? {} : { name }),
});

/** What the server said passes; everything else is the end of the connection. */
export const serversOwn = (error: unknown): unknown =>
  error instanceof pg.DatabaseError
    ? error
    : new ConnectionLost('the connection to the database ended', { cause: error });

export type Run = (query: Query) => Promise<Answer>;

interface Over {
  /** Only where all queries go through one connection. */
  transactions: boolean;
  /** What several of one database have in common. */
  adapter?: PostgresAdapter;
}

/** Kysely over one function. */
export function kyselyOver(run: Run, { transactions, adapter = new PostgresAdapter() }: Over): Kysely<Tables> {
  const connection: DatabaseConnection = {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<KyselyResult<R>> => {
      const { rows, rowCount } = await run({ text: sql, values: parameters });
      return { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) };
    },
    streamQuery: () => {
      throw new Error('the store streams nothing');
    },
  };
  const control = (text: string) => async () => {
    if (!transactions) throw new Error('transactions go through Database.write');
    await run({ text });
  };
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => adapter,
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createDriver: () => ({
        init: async () => undefined,
        acquireConnection: async () => connection,
        beginTransaction: control('BEGIN'),
        commitTransaction: control('COMMIT'),
        rollbackTransaction: control('ROLLBACK'),
        releaseConnection: async () => undefined,
        destroy: async () => undefined,
      }),
    },
  });
}
