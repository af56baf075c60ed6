import { createCompute, definitionsIn } from '@signalbox/crds/process/compute';
import { createNameHolders } from '../definitions/name-holders.ts';
import { createRegistry } from '../definitions/registry.ts';
import { gatewayAgent } from '../executors/gateway-rest.ts';
import { createTenants } from '../definitions/tenants.ts';
import type { Logs } from '../observability/logger.ts';
import type { Tracing } from '../observability/otel.ts';
import { createDailyBytes } from '../runs/state/daily-bytes.ts';
import { createDefinitionBytes } from '../runs/state/definition-bytes.ts';
import { createEventHub } from '../runs/state/events.ts';
import { createCapacity } from '../runs/run/capacity.ts';
import { createConcurrencyGroups } from '../runs/run/concurrency-groups.ts';
import { createTemplates } from '../runs/prompt/templates.ts';
import type { Database } from '../store/db/database.ts';
import { openDatabase } from '../store/db/open-database.ts';
import { watchWrites } from '../store/db/watch-writes.ts';
import { readEvents } from '../store/tables/bodies/run-bodies.ts';
import { keptDefinitions } from '../store/tables/interrupted.ts';
import { nameHolders, setNameHolders } from '../store/tables/name-holders.ts';
import { boundSeries } from './parts/bound-series.ts';
import { wireCalibration } from './parts/calibration.ts';
import { registryOptions, reportLoads } from './definitions.ts';
import { createApprovalRight } from './approval-right.ts';
import { createBackends } from './engine.ts';
import type { ServiceOptions } from './options.ts';
import { boundedModels } from '../runs/cost/model-label.ts';
import { boundedTeams } from '../runs/cost/team-label.ts';
import { countedModels, countedTeams } from '../store/db/counters.ts';
import { createPricing } from './parts/pricing.ts';
import { shareRegistry } from './parts/share-registry.ts';
import { wireVersions } from './parts/versions.ts';

const now = () => Date.now();

/** What the later stages of the start need: the database, the loaded definitions, the backends, and what runs share. */
export type Foundation = Awaited<ReturnType<typeof layFoundation>>;

export async function layFoundation(options: ServiceOptions) {
  const { config, logs, failpoints } = options;
  const synchronous = failpoints.synchronousNormal ? 'NORMAL' : 'FULL';
  const opened = await openDatabase({ ...config.database, now, synchronous, fenced: !failpoints.unfenced });
  const unbounded = failpoints.reach ? watchWrites(opened, failpoints.reach) : opened;
  // The first definitions may need a thread, before anything is known of their namespaces.
  let namespaceOf = (_pipeline: string): string => '';
  const groupOf = (pipeline: string): string => namespaceOf(pipeline);
  const compute = createCompute({ timeoutMs: config.security.computeTimeoutMs, groupOf });
  const names = config.managedDir === null ? null : await holdersOf(unbounded, logs.log);
  const own = await createRegistry({
    ...registryOptions(config, options.pipelineEnv),
    now,
    names,
    work: definitionsIn(compute, config.security.computeTimeoutMs),
  });
  const database = await boundSeries(unbounded, own, names);
  const registry = shareRegistry(own, database, logs.log);
  const tracing = await traced(options);
  const tenants = createTenants(config.tenancy, registry.current);
  ({ namespaceOf } = tenants);
  const hub = createEventHub({
    readStored: (runId, afterSeq) => readEvents(database.db, runId, afterSeq),
    now,
    observe: logs.event,
    ...(tracing && { trace: tracing.event }),
  });
  const backends = createBackends(config);
  const dailyBytes = createDailyBytes(tenants.dailyBytesOf, now);
  return {
    now,
    database,
    /** The registry of this replica; a reload of it is not announced to the other replicas. */
    own,
    registry,
    tenants,
    /** Of what runs and their messages have stored. */
    dailyBytes,
    definitionBytes: createDefinitionBytes(dailyBytes, await keptDefinitions(database.db)),
    reload: await reportLoads(registry, config, logs.log),
    tracing,
    hub,
    compute,
    templates: createTemplates({ sandbox: config.security.templateSandbox, compute }),
    backends,
    approvalRight: createApprovalRight(backends, logs.log),
    capacity: createCapacity(config.concurrency.maxRuns),
    concurrencyGroups: createConcurrencyGroups(),
    pricing: createPricing(config.pricing, logs.log),
    modelLabel: boundedModels(await countedModels(database.db)),
    teamLabel: boundedTeams([...(await countedTeams(database.db)), ...Object.keys(config.pricing?.teamBudgets ?? {})]),
    calibration: wireCalibration(config, database),
    versions: wireVersions({ database, log: logs.log, ask: gatewayAgent(config.executors.gateway) }),
    /** `leads`: this process is the leader, which does the jobs that only one replica may do. */
    state: { accepting: true, leads: !('url' in config.database) },
  };
}

const holdersOf = async (database: Pick<Database, 'db' | 'write'>, log: Logs['log']) =>
  createNameHolders(await nameHolders(database.db), {
    store: (changes) => database.write((tx) => setNameHolders(tx, changes, now())),
    warn: (error) =>
      log.warn({ err: error }, 'whose the names of definitions are was not stored; the next reload tries again'),
  });

/** The SDK is loaded only when tracing is enabled. */
async function traced({ config, version, logs }: ServiceOptions): Promise<Tracing | null> {
  if (config.otel === null) return null;
  const { startTracing } = await import('../observability/otel.ts');
  return startTracing({ config: config.otel, version, log: logs.log });
}
