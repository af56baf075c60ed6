import { createApprovals } from '../service/approvals/approvals.ts';
import { wireChats } from './chats.ts';
import { wireArtifacts } from './artifacts.ts';
import { wireCalibration } from './calibration.ts';
import type { Config } from '../config/config.ts';
import { registryOptions, reportLoads } from './definitions.ts';
import { createRegistry } from '../definitions/registry.ts';
import { createBackends, wireEngine } from './engine.ts';
import { gatewayAgent } from '../executors/gateway-rest.ts';
import type { Failpoints } from './failpoints.ts';
import { createHistory } from '../service/history/history.ts';
import { listen } from '../web/listen.ts';
import { createServer } from '../web/server.ts';
import { renewTls } from '../web/tls.ts';
import { roomIn, takeIn } from './intake.ts';
import { createMetrics } from '../observability/metrics.ts';
import type { Logs } from '../observability/logger.ts';
import { watchReadiness } from '../observability/watch-readiness.ts';
import { wireNotifications } from './notifications.ts';
import type { Operations } from './pages.ts';
import { createCapacity } from '../runs/run/capacity.ts';
import type { Engine } from '../runs/run/engine.ts';
import { createEventHub } from '../runs/state/events.ts';
import { createConcurrencyGroups } from '../runs/run/concurrency-groups.ts';
import { createTemplates } from '../runs/prompt/templates.ts';
import type { PipelineEnv } from '../runs/prompt/rendering.ts';
import { createPricing } from './pricing.ts';
import { shareRegistry, wireReplica } from './join-replicas.ts';
import { wireReadiness } from './readiness.ts';
import { rerun } from '../service/runs/rerun.ts';
import { routeDeps } from './routes.ts';
import { startRetention, wireScheduler } from './schedules.ts';
import { readCounters } from '../store/db/counters.ts';
import { openDatabase } from '../store/db/open-database.ts';
import { readEvents } from '../store/tables/event-writes.ts';
import { countRunning } from '../store/tables/interrupted.ts';
import { keepEarlierPrompts } from '../store/tables/prompt-templates.ts';
import { reportShortfalls } from '../store/aggregates/roll-up-check.ts';
import { watchWrites } from '../store/db/watch-writes.ts';
import { startTracing } from './tracing.ts';
import { firstPrompt } from '../triggers/first-prompt.ts';
import { dedupWindow, intake } from '../triggers/intake.ts';
import { receive, type ReceiveDeps } from '../service/deliveries/receive.ts';
import { sources } from '../triggers/sources/index.ts';
import { wireVersions } from './versions.ts';

export interface ServiceOptions {
  config: Config;
  version: string;
  logs: Logs;
  failpoints: Failpoints;
  pipelineEnv: PipelineEnv;
}

export interface Service {
  /** Listens and answers the base address. */
  listen(): Promise<string>;
  reload(): Promise<void>;
  /** Takes nothing new, lets runs end for a while, closes. */
  close(): Promise<void>;
}

/** How long runs may go on after SIGTERM; what is left goes on after the next start. */
const DRAIN_MS = 20_000;
const now = () => Date.now();

/** Puts the service together: the only place that knows every part. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, logs, failpoints } = options;
  const { log } = logs;
  const synchronous = failpoints.synchronousNormal ? 'NORMAL' : 'FULL';
  const opened = await openDatabase({ ...config.database, now, synchronous, fenced: !failpoints.unfenced });
  const database = failpoints.reach ? watchWrites(opened, failpoints.reach) : opened;
  const own = await createRegistry({ ...registryOptions(config), now });
  const isShared = 'url' in config.database;
  const registry = shareRegistry(own, database, log);
  const reload = reportLoads(registry, config, log);
  const tracing = await startTracing(options);
  const capacity = createCapacity(config.concurrency.maxRuns);
  const hub = createEventHub({
    readStored: (runId, afterSeq) => readEvents(database.db, runId, afterSeq),
    now,
    observe: (_, event) => logs.event(event),
    ...(tracing && { trace: tracing.event }),
  });
  const concurrencyGroups = createConcurrencyGroups();
  const templates = createTemplates({ sandbox: config.security.templateSandbox });
  const backends = createBackends(config);
  const notifications = wireNotifications({ ...options, database, templates });
  const approvals = createApprovals({ database, announce: notifications.approvalAsked, now });
  const chats = wireChats({ ...options, database, approvals });
  const pricing = createPricing(config.pricing, log);
  const calibration = wireCalibration(config, database);
  const versions = wireVersions({ database, log, ask: gatewayAgent(config.executors.gateway) });
  const engine = wireEngine({
    ...options,
    calibration,
    uses: versions.uses,
    holds: isShared ? () => replica?.holds() === true : undefined,
    priceOf: pricing.priceOf,
    database,
    hub,
    capacity,
    concurrencyGroups,
    templates,
    backends,
    registry,
    approvals,
    endWrites: notifications.runEnded,
    ...(tracing && { traceRun: tracing.run }),
  });
  const state = { accepting: true, leads: !isShared };
  const replica = await wireReplica({
    ...options,
    database,
    engine,
    capacity,
    heard: (word) => approvals.heard(word),
    lead: (leads) => {
      state.leads = leads;
      chats.hear(leads);
    },
    reload: own.reload,
  });
  const intakeDeps = await takeIn(config, { database, capacity, concurrencyGroups, templates, engine });
  const takeRuns: ReceiveDeps['intake'] = (requests) => intake(intakeDeps, requests);
  const scheduler = wireScheduler({ ...options, database, registry, engine, concurrencyGroups, templates });
  const retention = startRetention({ ...options, database, leads: () => state.leads });
  const artifacts = wireArtifacts(config, database);
  const receiving: ReceiveDeps = {
    definitions: registry.current,
    accepting: () => state.accepting,
    intake: takeRuns,
    peekDuplicate: (request) => database.write(async (tx) => (await dedupWindow(intakeDeps, tx, request))?.id ?? null),
    roomFor: roomIn(intakeDeps),
    firstPrompt: (request) => firstPrompt(templates, request, now()),
    now,
  };
  const metrics = createMetrics({
    readCounters: () => readCounters(database.db),
    runsInProgress: () => countRunning(database.db),
    approvalsPending: approvals.pendingByTeam,
    teamBudgets: config.pricing?.teamBudgets ?? {},
    now,
    sources: [...sources.keys()],
  });
  const readiness = wireReadiness({ ...options, database, registry, backends });
  const operations: Operations = {
    rerun: (runId, fromStep) => rerun({ database, definitions: registry.current, intake: takeRuns }, runId, fromStep),
    schedules: scheduler.list,
    artifact: async (runId, stepName, name) => (await artifacts?.read(runId, stepName, name)) ?? null,
  };
  const app = await createServer(config, {
    ...routeDeps({
      operations,
      options,
      database,
      registry,
      reload,
      hub,
      engine,
      capacity,
      metrics,
      backends,
      approvals,
      readiness,
      history: createHistory({ database, calibration, uses: versions.uses, rule: config.calibration }),
    }),
    receive: (delivery) => receive(receiving, delivery),
    readiness: watchReadiness(
      () => ({
        database: database.healthy(),
        database_file: database.fileInPlace(),
        migrations: true,
        definitions: true,
        accepting: state.accepting,
      }),
      log,
    ),
  });
  return {
    listen: async () => {
      if (replica) await replica.start();
      else await resume(engine, log);
      notifications.sender.start();
      chats.hear(state.leads);
      void pricing.start();
      await scheduler.start();
      readiness.verdicts.start();
      const url = await listen(app, config.server);
      versions.texts.start();
      void reportShortfalls(database.db, log);
      void keepEarlierPrompts(database, now()).catch((error: unknown) =>
        log.warn({ err: error }, 'prompts of earlier definitions could not be kept; the next start tries again'),
      );
      return url;
    },
    reload: async () => {
      await reload();
      renewTls(app, config.server.tls);
    },
    close: async () => {
      state.accepting = false;
      await replica?.retire();
      await scheduler.stop();
      retention.stop();
      pricing.stop();
      await readiness.verdicts.stop();
      await engine.drain(DRAIN_MS);
      await replica?.handOver();
      await notifications.sender.stop();
      await chats.stop();
      await app.close();
      for (const backend of backends) backend.close();
      await replica?.stop();
      await tracing?.close();
      versions.texts.stop();
      await versions.uses.flush().catch(() => undefined);
      await database.close();
      await logs.close();
    },
  };
}

/** Nobody else has the embedded database: what an earlier start left is this one's. */
async function resume(engine: Engine, log: Logs['log']): Promise<void> {
  const runs = await engine.resume();
  if (runs > 0) log.info({ runs }, 'runs of an earlier start go on');
}
