import type { Counter } from '../../runs/state/records.ts';
import type { Tx } from './database.ts';
import { postgres } from './dialect.ts';
import { CommitInDoubt, ConnectionLost, Fenced, LockBusy, type Outcome } from './faults.ts';
import type { Sharing, Transactions } from './group-commit.ts';
import { collectHourly, KEYED, SUMMED } from './hourly-sums.ts';
import { type Answer, kyselyOver, type Query, type Session } from './postgres-connection.ts';
import type { Tables } from './schema.ts';
import { compile, type Compiled, type Statement } from './statement.ts';

export interface WriterDeps {
  /** Whether an epoch that is over keeps its process from writing. */
  fenced: boolean;
  connect(): Promise<Session>;
  /** Asks until it knows whether the transaction took effect. */
  outcome(transactionId: string): Promise<Outcome>;
}

/** One connection that writes, opened again when it is lost. */
export interface Writer extends Transactions<Tx> {
  writeAs(epoch: number | 'none'): void;
  close(): Promise<void>;
}

const CONNECTIONS_TRIED = 3;

/** Every transaction shares this lock; one that must be alone has it for itself. Any number that no other lock uses. */
const SHARED_LOCK = '7165218850271234420';
/** The channel of `Tx.notify`. */
export const CHANNEL = 'signalbox';
/** Names the transaction at once, so that a commit without an answer can be asked for later. */
const NAME = 'SELECT pg_current_xact_id()::text AS id';
const BEGIN: Readonly<Record<Sharing, string>> = {
  shared: `BEGIN; SELECT pg_advisory_xact_lock_shared(${SHARED_LOCK}); ${NAME}`,
  exclusive: `BEGIN; SELECT pg_advisory_xact_lock(${SHARED_LOCK}); ${NAME}`,
};
const ADD_SUMS = `INSERT INTO counters (metric, labels, value) SELECT * FROM unnest($1::text[], $2::text[], $3::float8[])
  ON CONFLICT (metric, labels) DO UPDATE SET value = counters.value + excluded.value`;

/** Nobody may end the epoch before this transaction does: who takes over waits for it, or finds it gone. */
const epochHolds = (epoch: number): string => `; SELECT epoch FROM replicas WHERE epoch = ${epoch} FOR KEY SHARE`;

export function createWriter(deps: WriterDeps): Writer {
  let session: Session | null = null;
  let transactionId = '';
  let epoch: number | 'none' | null = null;
  /** The epoch that the current transaction has seen. */
  let seen: number | null = null;
  let locks = new Set<string>();
  let told = new Set<string>();
  let sums = new Map<string, Counter>();
  const hourly = collectHourly();

  const send = (query: Query): Promise<Answer> => {
    if (!session?.alive) return Promise.reject(new ConnectionLost('there is no connection to the database'));
    return session.query(query);
  };
  const drop = async () => {
    const left = session;
    session = null;
    await left?.end();
  };

  const name = async (sharing: Sharing): Promise<string> => {
    if (epoch === 'none') throw new Fenced('the lease of this replica has ended');
    seen = epoch;
    const text = `${BEGIN[sharing]}${seen === null ? '' : epochHolds(seen)}`;
    const [, , named, held] = (await send({ text })) as unknown as [Answer, Answer, Answer, Answer?];
    if (held?.rows.length === 0 && deps.fenced) throw new Fenced('other replicas have taken over from this one');
    return (named.rows[0] as { id: string }).id;
  };
  /** A connection may be found dead only when it is used; where no new one is to be had, nothing begins. */
  const beginOnLiving = async (sharing: Sharing): Promise<string> => {
    for (let tries = 1; ; tries += 1) {
      if (!session?.alive) {
        await drop();
        session = await deps.connect();
      }
      try {
        return await name(sharing);
      } catch (error) {
        await drop();
        if (tries === CONNECTIONS_TRIED || postgres.faultOf(error) !== 'lost') throw error;
      }
    }
  };

  const tx: Tx = {
    ...preparedOn(send),
    lock: async (name) => {
      if (locks.has(name)) return;
      // Waiting for a second lock while holding one could deadlock.
      const alone = locks.size === 0;
      const call = alone ? 'pg_advisory_xact_lock' : 'pg_try_advisory_xact_lock';
      const text = `SELECT ${call}(hashtextextended($1, 0)) AS taken`;
      const { rows } = await send({ text, values: [name], name: call });
      if (!alone && !(rows[0] as { taken: boolean } | undefined)?.taken) throw new LockBusy(name);
      locks.add(name);
    },
    get epoch() {
      return seen;
    },
    notify: async (message) => {
      // The server sends it once, with the commit.
      if (told.has(message)) return;
      told.add(message);
      await send({ text: 'SELECT pg_notify($1, $2)', values: [CHANNEL, message], name: 'notify' });
    },
    count: (counter) => {
      const key = `${counter.metric}\n${JSON.stringify(counter.labels)}`;
      const value = (sums.get(key)?.value ?? 0) + counter.value;
      sums.set(key, { ...counter, value });
    },
    sum: hourly.add,
  };

  return {
    tx,
    writeAs: (next) => void (epoch = next),
    faultOf: postgres.faultOf,
    begin: async (sharing) => {
      locks = new Set();
      told = new Set();
      sums = new Map();
      hourly.clear();
      transactionId = await beginOnLiving(sharing);
    },
    commit: async () => {
      const last = [addSums(sums), addHourly('hourly_runs', hourly.runs()), addHourly('hourly_steps', hourly.steps())];
      await commit({ send, last: last.filter((query) => query !== null), outcome: () => deps.outcome(transactionId) });
    },
    rollback: async (fault) => {
      // A server that was made read-only or is going down is left, so that the next try may find another.
      if (fault === 'unavailable' || fault === 'lost') return drop();
      await send({ text: 'ROLLBACK' }).catch(drop);
    },
    close: drop,
  };
}

interface Commit {
  send(query: Query): Promise<Answer>;
  /** The last statements, which go out with the commit: where one fails, the server answers that with a rollback. */
  last: readonly Query[];
  outcome(): Promise<Outcome>;
}

async function commit({ send, last, outcome }: Commit): Promise<void> {
  const answers = await Promise.allSettled([...last, { text: 'COMMIT' }].map(send));
  const committed = answers.at(-1);
  if (committed?.status === 'rejected' && postgres.faultOf(committed.reason) === 'lost')
    throw new CommitInDoubt(outcome(), committed.reason);
  // What the server committed is stored, also where an answer before it did not come in time: nothing is run again.
  if (committed?.status === 'fulfilled' && committed.value.command === 'COMMIT') return;
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (failed) throw failed.reason;
  // After a statement that failed, and whose error a job swallowed, the server rolls back and calls it success.
  throw new Error('a job went on after a failed statement; nothing was stored');
}

/** All roll-ups of a transaction in one statement, in one order for all processes: no two wait for each other. */
function addSums(sums: ReadonlyMap<string, Counter>): Query | null {
  if (sums.size === 0) return null;
  const sorted = [...sums.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, counter]) => counter);
  const columns = [
    sorted.map(({ metric }) => metric),
    sorted.map(({ labels }) => JSON.stringify(labels)),
    sorted.map(({ value }) => value),
  ];
  return { text: ADD_SUMS, values: columns, name: 'add_sums' };
}

const ADD_HOURLY = { hourly_runs: addHourlyTo('hourly_runs'), hourly_steps: addHourlyTo('hourly_steps') };

function addHourlyTo(table: keyof typeof SUMMED): string {
  const keyed: readonly string[] = KEYED[table];
  const summed: readonly string[] = SUMMED[table];
  const columns = [...keyed, ...summed];
  const arrays = columns.map((column, at) => `$${at + 1}::${arrayOf(column, summed)}[]`);
  const added = summed.map((column) => `${column} = ${table}.${column} + excluded.${column}`);
  return `INSERT INTO ${table} (${columns.join(', ')}) SELECT * FROM unnest(${arrays.join(', ')})
  ON CONFLICT (${keyed.join(', ')}) DO UPDATE SET ${added.join(', ')}`;
}

function arrayOf(column: string, summed: readonly string[]): string {
  if (column === 'cost') return 'float8';
  return column === 'hour' || summed.includes(column) ? 'bigint' : 'text';
}

/** As `addSums`, for the sums of an hour. */
function addHourly<T extends keyof typeof SUMMED>(table: T, rows: readonly Tables[T][]): Query | null {
  if (rows.length === 0) return null;
  const columns = [...KEYED[table], ...SUMMED[table]] as (keyof Tables[T])[];
  const values = columns.map((column) => rows.map((row) => row[column]));
  return { text: ADD_HOURLY[table], values, name: table };
}

/** The part of a transaction that runs statements: each compiled once, and prepared once a connection. */
function preparedOn(send: (query: Query) => Promise<Answer>): Pick<Tx, 'db' | 'all' | 'run'> {
  const db = kyselyOver(send, { transactions: false });
  const ready = new Map<Statement<never, unknown>, { compiled: Compiled<never>; name: string }>();
  const queryOf = <P>(statement: Statement<P, unknown>, input: P): Query => {
    const key = statement as Statement<never, unknown>;
    let entry = ready.get(key);
    if (!entry) {
      entry = { compiled: compile(db, statement) as Compiled<never>, name: `s${ready.size}` };
      ready.set(key, entry);
    }
    return { text: entry.compiled.sql, values: entry.compiled.bind(input as never), name: entry.name };
  };
  return {
    db,
    all: async <P, R>(statement: Statement<P, R>, input: P) => (await send(queryOf(statement, input))).rows as R[],
    run: async (statement, input) => (await send(queryOf(statement, input))).rowCount ?? 0,
  };
}
