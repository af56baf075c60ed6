/**
 * What an error means for the job that met it.
 * `job`: the job is wrong. `again`: run it once more in a new transaction. `conflict`: a unique index holds the row already.
 * `lost`: the connection is gone, another may work. `unavailable`: the database takes no writes now.
 */
export type Fault = 'job' | 'again' | 'conflict' | 'lost' | 'unavailable';

/** Thrown where waiting for a lock could end in a deadlock. */
export class LockBusy extends Error {}

/** Other processes have taken over what this one had: it writes nothing any more under its epoch. */
export class Fenced extends Error {}

/** The connection ended under a statement, whatever the client's own words for it are. */
export class ConnectionLost extends Error {}

/** `unknown` only where the outcome could not be read. */
export type Outcome = 'committed' | 'not_committed' | 'unknown';

/** A commit was sent and not answered: `settled` tells later whether it took effect. */
export class CommitInDoubt extends Error {
  readonly settled: Promise<Outcome>;
  constructor(settled: Promise<Outcome>, cause: unknown) {
    super('the connection ended during a commit', { cause });
    this.settled = settled;
  }
}

const CONSTRAINT = 19;
/** Constraint errors of a unique index, a primary key and a row id. */
const SQLITE_CONFLICTS = new Set([2067, 1555, 2579]);
/** BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB. */
const SQLITE_REFUSALS = new Set([5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 26]);

/** Classifies what `node:sqlite` throws. */
export function sqliteFault(error: unknown): Fault {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return 'job';
  const { errcode } = error;
  if ((errcode & 0xff) === CONSTRAINT) return SQLITE_CONFLICTS.has(errcode) ? 'conflict' : 'job';
  return SQLITE_REFUSALS.has(errcode & 0xff) ? 'unavailable' : 'job';
}

const BY_STATE: Readonly<Record<string, Fault>> = {
  '23505': 'conflict',
  '25006': 'unavailable', // read only: a standby, or a protected volume
  '25P03': 'lost', // idle in a transaction for too long
  '55P03': 'again', // lock timeout
  '57014': 'unavailable', // statement timeout
  '57P01': 'lost', // the backend was terminated
  '57P02': 'lost', // the server crashed
  '57P03': 'unavailable', // starting up or shutting down
  '57P05': 'lost',
};

/** Classes of SQLSTATE, by their first two signs. */
const BY_CLASS: Readonly<Record<string, Fault>> = {
  '08': 'lost',
  '28': 'unavailable', // the password is not accepted any more
  '3D': 'unavailable', // the database is gone
  '40': 'again', // serialization failure, deadlock
  '53': 'unavailable', // disk full, out of memory, too many connections
  '58': 'unavailable', // the server's own input and output
  XX: 'unavailable', // damage found by the server
};

/** Classifies the errors of a Postgres server, which carry a SQLSTATE, and our own about its connection. */
export function postgresFault(error: unknown): Fault {
  if (error instanceof LockBusy) return 'again';
  if (error instanceof ConnectionLost) return 'lost';
  if (error instanceof Fenced) return 'unavailable';
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return 'job';
  return BY_STATE[error.code] ?? BY_CLASS[error.code.slice(0, 2)] ?? 'job';
}
