import { wireArtifacts } from './parts/artifacts.ts';
import { startDailySums } from './parts/daily-sums.ts';
import { wireEngine } from './engine.ts';
import type { Foundation } from './foundation.ts';
import { takeIn } from './intake.ts';
import { wireReplica } from './join-replicas.ts';
import type { ServiceOptions } from './options.ts';
import { isToldInTexts } from '../notify/plan.ts';
import type { People } from './people.ts';
import type { Replica } from './replica.ts';
import { createUsageJob } from '../store/migrations/backfill/usage-job.ts';
import { createSearchJob } from '../store/tables/search/search-job.ts';
import { startRetention, wireScheduler } from './schedules.ts';

/** What executes runs: the engine, the replica with its lease where several share a database, intake and schedules. */
export type Runtime = Awaited<ReturnType<typeof wireRuntime>>;

export async function wireRuntime(
  options: ServiceOptions,
  foundation: Foundation,
  { notifications, approvals, chats }: People,
) {
  const { config } = options;
  const { tracing, pricing, versions, state, database } = foundation;
  const isShared = 'url' in config.database;
  /** The engine needs the lease check before the replica exists. */
  const lease: { of: Replica | null } = { of: null };
  const artifacts = wireArtifacts(config, database);
  const engine = wireEngine({
    ...options,
    ...foundation,
    artifacts,
    uses: versions.uses,
    holds: isShared ? () => lease.of?.holds() === true : undefined,
    priceOf: pricing.priceOf,
    approvals,
    endWrites: notifications.runEnded,
    isToldInTexts,
    ...(tracing && { traceRun: tracing.run }),
  });
  const replica = await wireReplica(options, foundation, {
    engine,
    heard: (word) => approvals.heard(word),
    lead: (leads) => {
      state.leads = leads;
      chats.hear(leads);
    },
  });
  lease.of = replica;
  const leads = () => state.leads;
  const { log } = options.logs;
  const usage = createUsageJob({ database, leads, log });
  const leadsCompleted = () => leads() && usage.done();
  return {
    engine,
    replica,
    artifacts,
    intakeDeps: takeIn(options, foundation, engine),
    scheduler: wireScheduler(options, foundation, engine),
    retention: startRetention(options, foundation),
    usage,
    dailySums: startDailySums(database, { leads: leadsCompleted, log }),
    search: createSearchJob({ database, leads: leadsCompleted, log }),
  };
}
