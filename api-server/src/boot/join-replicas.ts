import { hostname } from 'node:os';
import { spreadChanges } from '../definitions/spread-changes.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Config } from '../config/config.ts';
import type { Failpoints } from './failpoints.ts';
import type { Logs } from '../observability/logger.ts';
import { createReplica, LEASE_MS, type Replica } from './replica.ts';
import type { Capacity } from '../runs/run/capacity.ts';
import type { Engine } from '../runs/run/engine.ts';
import type { EventHub } from '../runs/state/events.ts';
import { followStored } from '../runs/state/follow-stored.ts';
import { askedToCancel, claimRuns, releaseDead, releaseOwn } from '../store/tables/claims.ts';
import type { Database } from '../store/db/database.ts';
import { readEvents } from '../store/tables/event-writes.ts';
import { readInterrupted, readStatus } from '../store/tables/interrupted.ts';
import { spreadDefinitions } from '../store/tables/schedules.ts';

export interface ReplicaParts {
  config: Pick<Config, 'database'>;
  logs: Pick<Logs, 'log'>;
  failpoints: Failpoints;
  database: Database;
  engine: Engine;
  capacity: Capacity;
  /** Hears what other processes say to all. */
  heard(word: string): void;
  lead(leads: boolean): void;
  /** Reads the definitions again, because another process changed them. */
  reload(): Promise<unknown>;
}

/** How long an api-server of a version that shares its database with nobody may take to let go of it. */
const OWNER_PATIENCE_MS = 30_000;
/** For tests that wait for the end of leases. */
const SHORT_LEASE_MS = 2_000;

/** Gives a replica its lease, its store and its engine; null where the database is embedded and belongs to this process. */
export async function wireReplica(parts: ReplicaParts): Promise<Replica | null> {
  const { config, logs, failpoints, database, engine, capacity } = parts;
  if ('file' in config.database) return null;
  // With the client of Postgres, which is loaded only where it is used.
  const { openMembership } = await import('../store/db/membership.ts');
  const leaseMs = failpoints.shortLease ? SHORT_LEASE_MS : LEASE_MS;
  const membership = await openMembership(config.database.url, {
    name: hostname(),
    leaseMs,
    heard: (word) => {
      if (word === 'work') replica.work();
      else if (word === 'look') replica.soon();
      else parts.heard(word);
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
    letGo: engine.letGo,
    room: () => capacity.max - capacity.active() - capacity.waiting() - capacity.announced(),
    cancelAsked: async (epoch) => {
      const asked = await askedToCancel(database.db, epoch);
      // Their ends may take a while; who asked looks for them in the store.
      for (const { runId, by } of asked) engine.cancel(runId, by).catch(() => undefined);
    },
    lead: parts.lead,
    definitionsChanged: onceMoved(() => void parts.reload().catch(reloadFailed(logs.log))),
    monotonic: () => performance.now(),
    log: logs.log,
    fenced: !failpoints.unfenced,
  });
  capacity.onRoom(replica.room);
  return replica;
}

/** Acts when a mark is another one than at the last look; the first look is the beginning. */
function onceMoved(act: () => void): (mark: number | null) => void {
  let known: number | null | undefined;
  return (mark) => {
    if (known !== undefined && mark !== known) act();
    known = mark;
  };
}

const reloadFailed = (log: Logs['log']) => (error: unknown) =>
  log.error({ err: error }, 'definitions that another process changed cannot be read');

/** A registry whose changes reach the other processes; where the database takes no writes now, they wait for the next change. */
export const shareRegistry = (registry: Registry, database: Database, log: Logs['log']): Registry =>
  database.writeAs === undefined
    ? registry
    : spreadChanges(registry, () =>
        database
          .write(spreadDefinitions)
          .catch((error: unknown) => log.warn({ err: error }, 'other processes were not told to reload')),
      );

/** How soon a stream shows what another process stored. */
const LOOK_MS = 1_000;

/** The live log of a run, whichever process has it. */
export const subscribeTo = (hub: EventHub, { db, writeAs }: Database): EventHub['subscribe'] =>
  writeAs === undefined
    ? hub.subscribe
    : followStored({
        hub,
        readStored: (runId, afterSeq) => readEvents(db, runId, afterSeq),
        readStatus: (runId) => readStatus(db, runId),
        everyMs: LOOK_MS,
      });
