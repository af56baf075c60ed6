import { setTimeout as sleep } from 'node:timers/promises';
import { connectionSettings, openSession, type Session } from './postgres-connection.ts';

const LIMITS = { statement: 5_000, lock: 5_000 };
/** Any number that nobody else takes as an advisory lock. */
const OWNER_LOCK = '7165218850271234477';
const RETRY_MS = 250;
const LOOK_MS = 5_000;

export interface OwnershipOptions {
  /** How long another owner may take to go, in milliseconds: a killed process is gone at once, a rolled one soon. */
  patienceMs: number;
  /** Somebody else owns the database now; who goes on would run their runs a second time. */
  onLost(): void;
}

/**
 * Keeps other api-servers off a Postgres database: runs have no owner of their own, so a second service would take up the
 * first one's. The lock is a session's and ends with it. Throws one line that names the key.
 */
export async function ownDatabase(url: string, options: OwnershipOptions): Promise<{ release(): Promise<void> }> {
  const deadline = Date.now() + options.patienceMs;
  let session = await lock(url);
  while (!session && Date.now() < deadline) {
    await sleep(RETRY_MS);
    session = await lock(url);
  }
  if (!session) throw new Error('database.url: another api-server uses this database; stop it first');
  let held: Session = session;
  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  /** After a failover the lock is taken again; a server that does not answer is asked again later. */
  const look = async () => {
    if (held.alive) return;
    const next = await lock(url).catch(() => undefined);
    if (next) held = next;
    else if (next === null) options.onLost();
  };
  return {
    release: async () => {
      clearInterval(timer);
      await held.end();
    },
  };
}

/** The session that holds the lock; null when somebody else does. */
async function lock(url: string): Promise<Session | null> {
  const session = await openSession(connectionSettings(url, LIMITS));
  const { rows } = await session.query({ text: `SELECT pg_try_advisory_lock(${OWNER_LOCK}) AS taken` });
  if ((rows[0] as { taken: boolean } | undefined)?.taken) return session;
  await session.end();
  return null;
}
