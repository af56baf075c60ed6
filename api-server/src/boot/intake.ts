import { LRUCache } from 'lru-cache';
import type { Engine } from '../runs/run/engine.ts';
import { newId } from '../runs/state/ids.ts';
import { compileKeyOf, concurrencyGroupOf } from '../runs/run/concurrency-groups.ts';
import type { Tx } from '../store/db/database.ts';
import { insertPrior } from '../store/tables/step-writes.ts';
import { findCovering, findDuplicate, keepCoverage } from '../store/tables/duplicates.ts';
import { insertRun, keepDefinition } from '../store/tables/run-writes.ts';
import { countWaiting, placesLeft, makeRoom, joinGroup } from '../store/tables/replicas/shared-concurrency.ts';
import { roomFor } from '../triggers/intake.ts';
import type { IntakeDeps } from '../triggers/intake-deps.ts';
import type { ReceiveDeps } from '../service/deliveries/receive.ts';
import { countActive, tokensOf } from '../store/tables/replicas/tenant-load.ts';
import { sharedRoomFor } from '../triggers/shared-queue.ts';
import type { TenantLoad } from '../triggers/tenant-limits.ts';
import type { Foundation } from './foundation.ts';
import type { ServiceOptions } from './options.ts';

const now = () => Date.now();

/** Definitions that are not written again for a while: each use after it touches them, so that retention leaves them. */
const KEPT = { max: 10_000, ttl: 3_600_000 };

/** The queue and the concurrency groups as rows of the database, for replicas that share it. */
export const SHARED = { waiting: countWaiting, placesLeft, place: joinGroup, makeRoom };

export const TENANT_LOAD: TenantLoad<Tx> = { activeRuns: countActive, tokensIn: tokensOf };

/** A queued run has no owner: the replica that claims it starts it. The store keeps the places in concurrency groups. */
export const beginOwn =
  (engine: Engine): Engine['begin'] =>
  (run, state) => {
    if (state === 'running') engine.begin({ ...run, concurrencyGroup: null }, state);
  };

/** The free capacity that a dry run reports. */
export const roomIn =
  (deps: IntakeDeps<Tx>): ReceiveDeps['roomFor'] =>
  (request) =>
    deps.shared ? sharedRoomFor(deps, deps.shared, request) : roomFor(deps, request);

/** Connects intake to its transaction, its capacity limits and the engine that starts the runs. */
export function takeIn(
  { config: { dedup, concurrency } }: ServiceOptions,
  { database, capacity, concurrencyGroups, templates, definitionBytes }: Foundation,
  engine: Engine,
): IntakeDeps<Tx> {
  const kept = new LRUCache<string, true>(KEPT);
  return {
    write: (job) => database.write(job),
    findDuplicate,
    findCovering,
    keepCoverage,
    insertRun,
    storable: definitionBytes.storable,
    keepDefinition: async (tx, { hash, name, config }) => {
      if (!kept.has(hash))
        await keepDefinition(tx, { hash, kind: 'Pipeline', name, body: JSON.stringify(config), stored_at: now() });
    },
    definitionKept: (hash) => {
      if (!kept.has(hash)) kept.set(hash, true);
    },
    insertPrior: (tx, runId, { pipeline, prior }) =>
      insertPrior(tx, prior ?? [], {
        runId,
        pipelineName: pipeline.name,
        stage: pipeline.config.stage,
        newId,
        now: now(),
      }),
    isFull: engine.isFull,
    tenantLoad: TENANT_LOAD,
    capacity,
    concurrencyGroups,
    compileKey: (pipeline) => compileKeyOf(templates, pipeline),
    concurrencyGroupOf: ({ pipeline, context, team }) =>
      concurrencyGroupOf(templates, { pipeline: pipeline.config, context, team }),
    maxQueued: concurrency.onFull === 'queue' ? concurrency.maxQueued : 0,
    maxInGroups: concurrency.maxQueued,
    dedup,
    now,
    newId,
    begin: database.writeAs ? beginOwn(engine) : engine.begin,
    ...(database.writeAs && { shared: SHARED }),
  };
}
