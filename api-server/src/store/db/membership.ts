import { setTimeout as sleep } from 'node:timers/promises';
import { ACTIVE_RUN_STATUSES } from '../../runs/state/model.ts';
import { connectionSettings, openSession, type Session } from './postgres-connection.ts';
import { CHANNEL } from './postgres-writer.ts';

const LIMITS = { statement: 3_000, lock: 2_000 };
/** Versions that own a database alone take this lock for themselves; replicas share it. */
const OWNER_LOCK = '7165218850271234477';
const RETRY_MS = 250;

const LIVE = `('${ACTIVE_RUN_STATUSES.join("', '")}')`;
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
const LEAVE = [
  // The row first: it waits for transactions that still rely on it, and what they stored is then seen.
  'DELETE FROM replicas WHERE epoch = $1',
  `UPDATE runs SET owner = NULL WHERE owner = $1 AND status IN ${LIVE}`,
];
const RENEW = `UPDATE replicas AS mine SET expires_at = ${NOW} + $2 WHERE epoch = $1 RETURNING
  epoch = (SELECT min(epoch) FROM replicas) AS leads,
  EXISTS (SELECT FROM replicas WHERE expires_at < ${NOW} AND epoch <> $1) AS dead,
  EXISTS (SELECT FROM runs WHERE status IN ${LIVE} AND owner IS NULL) AS work,
  EXISTS (SELECT FROM cancellations JOIN runs ON runs.id = run_id WHERE owner = $1 AND status IN ${LIVE}) AS cancellations,
  (SELECT value FROM marks WHERE name = 'definitions') AS definitions`;

/** What a process learns when it renews its lease. */
export interface Renewal {
  /** One replica at a time does what must be done once: the one with the oldest epoch. */
  leads: boolean;
  /** A lease is over. */
  dead: boolean;
  /** A run without an owner waits. */
  work: boolean;
  /** A run of this process is to be cancelled. */
  cancellations: boolean;
  /** Moves when definitions change. */
  definitions: number | null;
}

/** The place of this process among those that share a Postgres database. */
export interface Membership {
  /** Enters under a new epoch; the runs of its former epoch have no owner from then on. */
  join(before: number | null): Promise<number>;
  /** Null where others have ended the epoch. */
  renew(epoch: number): Promise<Renewal | null>;
  /** Hands its runs over and leaves. */
  leave(epoch: number): Promise<void>;
  /** Hears nothing any more. */
  close(): Promise<void>;
}

export interface MembershipOptions {
  /** For people who look into the table. */
  name: string;
  leaseMs: number;
  /** Receives every message of `Tx.notify` from any process; messages sent while the connection was away are lost. */
  heard(word: string): void;
  /** How long a version that owns its database alone may take to go, in milliseconds. */
  patienceMs: number;
}

/** Leases are counted by the clock of the database; each call finds a lost connection again. */
export async function openMembership(url: string, options: MembershipOptions): Promise<Membership> {
  let session: Session | null = await connect(url, options);
  const connected = async (): Promise<Session> => {
    if (!session?.alive) {
      await session?.end();
      session = null;
      session = await connect(url, { ...options, patienceMs: 0 });
    }
    return session;
  };
  const together = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
    const used = await connected();
    try {
      await used.query({ text: 'BEGIN' });
      const result = await work(used);
      await used.query({ text: 'COMMIT' });
      return result;
    } catch (error) {
      session = null;
      await used.end();
      throw error;
    }
  };
  const leave = async (used: Session, epoch: number) => {
    for (const text of LEAVE) await used.query({ text, values: [epoch] });
    await used.query({ text: 'SELECT pg_notify($1, $2)', values: [CHANNEL, 'work'] });
  };
  return {
    join: (before) =>
      together(async (used) => {
        if (before !== null) await leave(used, before);
        const text = `INSERT INTO replicas (name, expires_at) VALUES ($1, ${NOW} + $2) RETURNING epoch`;
        const { rows } = await used.query({ text, values: [options.name, options.leaseMs] });
        return (rows[0] as { epoch: number }).epoch;
      }),
    renew: async (epoch) => {
      const { rows } = await (
        await connected()
      ).query({ text: RENEW, values: [epoch, options.leaseMs], name: 'renew' });
      return (rows[0] as Renewal | undefined) ?? null;
    },
    leave: (epoch) => together((used) => leave(used, epoch)),
    close: async () => session?.end(),
  };
}

async function connect(url: string, { heard, patienceMs }: MembershipOptions): Promise<Session> {
  const deadline = Date.now() + patienceMs;
  const session = await openSession(connectionSettings(url, LIMITS), heard);
  while (!(await shares(session))) {
    if (Date.now() >= deadline) {
      await session.end();
      throw new Error(
        'database.url: it is in use by an api-server that does not share its database; stop that one first',
      );
    }
    await sleep(RETRY_MS);
  }
  await session.query({ text: `LISTEN ${CHANNEL}` });
  return session;
}

async function shares(session: Session): Promise<boolean> {
  const { rows } = await session.query({ text: `SELECT pg_try_advisory_lock_shared(${OWNER_LOCK}) AS taken` });
  return (rows[0] as { taken: boolean }).taken;
}
