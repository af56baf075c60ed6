import { hostname } from 'node:os';
import type { Logs } from '../observability/logger.ts';
import { createReplica, LEASE_MS, type Replica } from './replica.ts';
import type { Foundation } from './foundation.ts';
import type { ServiceOptions } from './options.ts';
import type { Engine } from '../runs/run/engine.ts';
import type { EventHub } from '../runs/state/events.ts';
import { followStored } from '../runs/state/follow-stored.ts';
import { askedToCancel, claimRuns, releaseDead, releaseOwn } from '../store/tables/replicas/claims.ts';
import type { Database } from '../store/db/database.ts';
import { readEvents } from '../store/tables/bodies/run-bodies.ts';
import { readInterrupted, readStatus } from '../store/tables/interrupted.ts';

interface Joining {
  engine: Engine;
  /** Receives a broadcast of another replica. */
  heard(word: string): void;
  lead(leads: boolean): void;
}

/** How long to wait for an api-server of an older version, which uses its database alone, to release it. */
const OWNER_PATIENCE_MS = 30_000;
/** For tests that wait for a lease to expire. */
const SHORT_LEASE_MS = 2_000;

/** Connects a replica to its lease, its store and its engine; null for the embedded database, which has one process. */
export async function wireReplica(
  { config, logs, failpoints }: ServiceOptions,
  { database, capacity, own }: Foundation,
  { engine, heard, lead }: Joining,
): Promise<Replica | null> {
  if ('file' in config.database) return null;
  // Imports the Postgres client, which is loaded only where it is used.
  const { openMembership } = await import('../store/db/membership.ts');
  const leaseMs = failpoints.shortLease ? SHORT_LEASE_MS : LEASE_MS;
  const membership = await openMembership(config.database.url, {
    name: hostname(),
    leaseMs,
    heard: (word) => {
      if (word === 'work') replica.work();
      else if (word === 'look') replica.soon();
      else heard(word);
    },
    patienceMs: OWNER_PATIENCE_MS,
  });
  const replica = createReplica({
    membership,
    leaseMs,
    writeAs: (epoch) => database.writeAs?.(epoch),
    claim: (limit) =>
      database.write(async (tx) => {
        await releaseDead(tx);
        return claimRuns(tx, limit);
      }),
    takeUp: async (ids) => engine.takeUp(await readInterrupted(database.db, ids)),
    release: () => database.write(releaseOwn),
    stopRuns: engine.stopRuns,
    room: () => capacity.max - capacity.active() - capacity.waiting() - capacity.announced(),
    cancelAsked: async (epoch) => {
      const asked = await askedToCancel(database.db, epoch);
      // A cancelled run may take a while to end; the replica that asked polls the store for its end.
      for (const { runId, by } of asked) engine.cancel(runId, by).catch(() => undefined);
    },
    lead,
    definitionsChanged: onceMoved(() => void own.reload().catch(reloadFailed(logs.log))),
    monotonic: () => performance.now(),
    log: logs.log,
    fenced: !failpoints.unfenced,
  });
  capacity.onRoom(replica.room);
  return replica;
}

/** Calls `act` when the mark differs from the last one; the first mark only sets the start. */
function onceMoved(act: () => void): (mark: number | null) => void {
  let known: number | null | undefined;
  return (mark) => {
    if (known !== undefined && mark !== known) act();
    known = mark;
  };
}

const reloadFailed = (log: Logs['log']) => (error: unknown) =>
  log.error({ err: error }, 'the definitions that another replica changed cannot be read');

/** How often a stream reads what another replica stored. */
const LOOK_MS = 1_000;

/** The live log of a run, also of one that another replica owns. */
export const subscribeTo = (hub: EventHub, { db, writeAs }: Database): EventHub['subscribe'] =>
  writeAs === undefined
    ? hub.subscribe
    : followStored({
        hub,
        readStored: (runId, afterSeq) => readEvents(db, runId, afterSeq),
        readStatus: (runId) => readStatus(db, runId),
        everyMs: LOOK_MS,
      });
