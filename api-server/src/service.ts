import { type Approvals, createApprovals } from './approvals/approvals.ts';
import { pageApprovals, wireChats } from './approval-wiring.ts';
import { artifactStore } from './artifacts/keep.ts';
import type { Config } from './config/config.ts';
import { definitionFiles } from './definitions/definition-files.ts';
import { createRegistry, type Registry } from './definitions/registry.ts';
import { createWriter } from './definitions/write.ts';
import { listAgents } from './executors/agents.ts';
import { gatewayTools } from './executors/gateway-rest.ts';
import { createBackends, wireEngine } from './engine-wiring.ts';
import type { Failpoints } from './failpoints.ts';
import { createServer, type ServerDeps } from './http/server.ts';
import { renewTls } from './http/tls.ts';
import { takeIn } from './intake-wiring.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import type { Logs } from './observability/logger.ts';
import { wireNotifications } from './notify-wiring.ts';
import { pageAudit, pageCancel, pageOperations, pageStore, type Operations } from './page-wiring.ts';
import { createCapacity, type Capacity } from './runs/capacity.ts';
import type { Engine } from './runs/engine.ts';
import { createEventHub, type EventHub } from './runs/events.ts';
import type { AgentBackend } from './runs/executor.ts';
import { createLanes } from './runs/lanes.ts';
import { createTexts } from './runs/texts.ts';
import type { PipelineEnv } from './runs/rendering.ts';
import { rerun } from './rerun-wiring.ts';
import { startRetention, wireScheduler } from './schedule-wiring.ts';
import { insertAudit, listAudit } from './store/audit.ts';
import { readCounters } from './store/counters.ts';
import { openDatabase, type Database } from './store/database.ts';
import { readEvents } from './store/event-writes.ts';
import { markRun, markStep, runFeedback, stepFeedback } from './store/feedback.ts';
import { countRunning } from './store/interrupted.ts';
import { listRuns } from './store/list-runs.ts';
import { checkRollUps } from './store/roll-up-check.ts';
import { findRun, lastRuns, runDetail } from './store/run-detail.ts';
import { watchWrites } from './store/watch-writes.ts';
import { dedupWindow, intake } from './triggers/intake.ts';
import { receive, type ReceiveDeps } from './triggers/receive.ts';
import { sources } from './triggers/sources/index.ts';
import { registerPages } from './ui/pages.ts';

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
/** How long the service before may take to let go of a Postgres database. */
const OWNER_PATIENCE_MS = 30_000;
const now = () => Date.now();

/** Puts the service together: the only place that knows every part. */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, logs, failpoints } = options;
  const { log } = logs;
  const synchronous = failpoints.synchronousNormal ? 'NORMAL' : 'FULL';
  const opened = await openDatabase({ ...config.database, now, synchronous });
  const owned = await ownership(config, log);
  const database = failpoints.reach ? watchWrites(opened, failpoints.reach) : opened;
  const registry = await createRegistry({
    ...definitionFolders(config),
    operator: {
      allow_shell_checks: config.security.allowShellChecks,
      pipeline_env: config.security.pipelineEnv,
      template_sandbox: config.security.templateSandbox,
    },
    now,
  });
  reportProblems(registry, log);
  const capacity = createCapacity(config.concurrency.maxRuns);
  const hub = createEventHub({
    readStored: (runId, afterSeq) => readEvents(database.db, runId, afterSeq),
    now,
    observe: (_, { level, msg, seq: _seq, ts: _ts, ...fields }) => {
      logs.runs[level === 'error' ? 'warn' : level](fields, msg);
    },
  });
  const lanes = createLanes();
  const texts = createTexts({ sandbox: config.security.templateSandbox });
  const backends = createBackends(config);
  const notifications = wireNotifications({ ...options, database, texts });
  const approvals = createApprovals({ database, announce: notifications.approvalAsked, now });
  const chats = wireChats({ ...options, database, approvals });
  const engine = wireEngine({
    ...options,
    database,
    hub,
    capacity,
    lanes,
    texts,
    backends,
    registry,
    approvals,
    endWrites: notifications.runEnded,
  });
  const state = { accepting: true };
  const intakeDeps = await takeIn(config, { database, capacity, lanes, texts, engine });
  const takeRuns: ReceiveDeps['intake'] = (requests) => intake(intakeDeps, requests);
  const scheduler = wireScheduler({ ...options, database, registry, engine, lanes, texts });
  const retention = startRetention({ ...options, database });
  const artifacts = config.artifacts && artifactStore(config.artifacts.dir);
  const receiving: ReceiveDeps = {
    definitions: registry.current,
    accepting: () => state.accepting,
    intake: takeRuns,
    peekDuplicate: (request) => database.write(async (tx) => (await dedupWindow(intakeDeps, tx, request))?.id ?? null),
    hasRoom: () => capacity.active() < capacity.max || capacity.waiting() < intakeDeps.maxQueued,
    now,
  };
  const metrics = createMetrics({
    readCounters: () => readCounters(database.db),
    runsInProgress: () => countRunning(database.db),
    approvalsPending: approvals.pendingByTeam,
    sources: [...sources.keys()],
  });
  const operations: Operations = {
    rerun: (runId, fromStep) => rerun({ database, definitions: registry.current, intake: takeRuns }, runId, fromStep),
    schedules: scheduler.list,
    artifact: async (runId, stepName, name) => (await artifacts?.read(runId, stepName, name)) ?? null,
  };
  const app = await createServer(config, {
    ...routeDeps({ operations, options, database, registry, hub, engine, capacity, metrics, backends, approvals }),
    receive: (delivery) => receive(receiving, delivery),
    readiness: () => ({
      database: database.healthy(),
      migrations: true,
      definitions: true,
      accepting: state.accepting,
    }),
  });
  return {
    listen: async () => {
      const resumed = await engine.resume();
      if (resumed > 0) log.info({ runs: resumed }, 'runs of an earlier start go on');
      notifications.sender.start();
      chats.start();
      await scheduler.start();
      const url = await app.listen({ host: config.server.host, port: config.server.port });
      void reportShortfalls(database, log);
      return url;
    },
    reload: async () => {
      const { pipelines } = await registry.reload();
      reportProblems(registry, log);
      log.info({ pipelines: pipelines.length }, 'reloaded');
      renewTls(app, config.server.tls);
    },
    close: async () => {
      state.accepting = false;
      await scheduler.stop();
      retention.stop();
      await engine.drain(DRAIN_MS);
      await notifications.sender.stop();
      await chats.stop();
      await app.close();
      for (const backend of backends) backend.close();
      await database.close();
      await owned?.release();
      await logs.close();
    },
  };
}

const definitionFolders = (config: Config) => ({
  pipelineDir: config.pipelineConfigDir,
  stepDir: config.stepLibraryDir,
  managedDir: config.managedDir,
});

/** One service a database: the embedded one has a lock file, Postgres a lock of a session. */
async function ownership({ database }: Config, log: Logs['log']): Promise<{ release(): Promise<void> } | null> {
  if ('file' in database) return null;
  const { ownDatabase } = await import('./store/ownership.ts');
  return ownDatabase(database.url, {
    patienceMs: OWNER_PATIENCE_MS,
    onLost: () => {
      log.error('another api-server has taken over the database; this one stops');
      process.kill(process.pid, 'SIGTERM');
    },
  });
}

function reportProblems(registry: Registry, log: Logs['log']): void {
  for (const { severity, file, line, col, msg } of registry.current().problems) {
    log.warn({ severity, file, line, col }, `definition: ${msg}`);
  }
}

/** A roll-up that says less than its rows is a fault of ours; the service goes on, the log says so. */
async function reportShortfalls({ db }: Database, log: Logs['log']): Promise<void> {
  const shortfalls = await checkRollUps(db).catch(() => null);
  for (const { metric, labels, rolledUp, counted } of shortfalls ?? []) {
    log.error({ metric, labels, rolled_up: rolledUp, counted }, 'a roll-up is behind its rows');
  }
}

interface RouteParts {
  operations: Operations;
  options: ServiceOptions;
  database: Database;
  registry: Registry;
  hub: EventHub;
  engine: Engine;
  capacity: Capacity;
  metrics: Metrics;
  backends: AgentBackend[];
  approvals: Approvals;
}

function routeDeps(parts: RouteParts): Omit<ServerDeps, 'receive' | 'readiness'> {
  const { options, operations, database, registry, hub, engine, capacity, metrics, backends, approvals } = parts;
  const { db } = database;
  const agents = () => listAgents(backends);
  const audit: ServerDeps['audit'] = (entry) => database.write((tx) => insertAudit(tx, entry));
  return {
    version: options.version,
    now,
    log: options.logs.log,
    accessLog: options.logs.access,
    countAuthFailure: metrics.countAuthFailure,
    countDelivery: metrics.countDelivery,
    renderMetrics: metrics.render,
    activeRuns: capacity.active,
    maxRuns: capacity.max,
    listRuns: (filter, page) => listRuns(db, filter, page),
    runDetail: (id, include) => runDetail(db, id, include),
    findRun: (id) => findRun(db, id),
    lastRuns: (pipelines) => lastRuns(db, pipelines),
    cancel: engine.cancel,
    listApprovals: approvals.list,
    decideApproval: approvals.decide,
    history: hub.history,
    subscribe: hub.subscribe,
    markRun: (mark) => database.write((tx) => markRun(tx, mark)),
    markStep: (mark) => database.write((tx) => markStep(tx, mark)),
    runFeedback: (runId) => runFeedback(db, runId),
    stepFeedback: (runId, stepName) => stepFeedback(db, runId, stepName),
    definitions: registry.current,
    reload: registry.reload,
    listAgents: agents,
    audit,
    listAudit: (filter, page) => listAudit(db, filter, page),
    writer: createWriter({ registry, folders: definitionFolders(options.config), files: definitionFiles }),
    ...operations,
    pages: (app, auth, apiDescription) =>
      registerPages(app, {
        apiDescription,
        ...pageStore({ database, definitions: registry.current, now }),
        ...pageApprovals(approvals),
        ...pageOperations({ operations, audit, now }),
        gatewayTools: gatewayTools(options.config.executors.gateway),
        auth,
        version: options.version,
        currency: 'USD',
        now,
        runLog: (runId) => hub.history(runId, 0),
        listAudit: pageAudit(database),
        cancelRun: pageCancel({ cancel: engine.cancel, audit, now }),
        listAgents: agents,
      }),
  };
}
