import type { Approvals } from '../service/approvals/approvals.ts';
import { pageApprovals } from './chats.ts';
import type { Config } from '../config/config.ts';
import { definitionFolders } from './definitions.ts';
import { definitionFiles } from '../definitions/definition-files.ts';
import { readSyncedObjects } from '../definitions/managed-object.ts';
import type { Registry } from '../definitions/registry.ts';
import { createWriter } from '../definitions/write.ts';
import { listAgents } from '../executors/agents.ts';
import { gatewayObjects, gatewayTools } from '../executors/gateway-rest.ts';
import type { History } from '../analytics/history.ts';
import type { ServerDeps } from '../web/server.ts';
import type { Logs } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { pageAudit, pageCancel, pageOperations, pageStore, type Operations } from './pages.ts';
import { pageReadiness, type WiredReadiness } from './readiness.ts';
import { subscribeTo } from './join-replicas.ts';
import { createStatistics } from '../service/statistics/statistics.ts';
import type { Capacity } from '../runs/run/capacity.ts';
import type { Engine } from '../runs/run/engine.ts';
import type { EventHub } from '../runs/state/events.ts';
import type { AgentBackend } from '../runs/state/executor.ts';
import { insertAudit, listAudit } from '../store/tables/audit.ts';
import type { Database } from '../store/db/database.ts';
import { endedSessions } from '../store/tables/ended-sessions.ts';
import { markRun, markStep, runFeedback, stepFeedback } from '../store/tables/feedback.ts';
import { listRuns } from '../store/tables/list-runs.ts';
import { findRun, lastRuns, runDetail } from '../store/tables/run-detail.ts';
import { registerPages } from '../web/pages/pages.ts';

/** What the routes and pages are made of. */
export interface RouteParts {
  operations: Operations;
  options: { config: Config; version: string; logs: Logs };
  database: Database;
  registry: Registry;
  reload: Registry['reload'];
  hub: EventHub;
  engine: Engine;
  capacity: Capacity;
  metrics: Metrics;
  backends: AgentBackend[];
  approvals: Approvals;
  readiness: WiredReadiness;
  history: History;
}

const now = () => Date.now();

/** Gives JSON routes and pages what they need from the rest of the service, the same functions to both. */
export function routeDeps(parts: RouteParts): Omit<ServerDeps, 'receive' | 'readiness'> {
  const { options, operations, database, registry, reload, hub, engine, capacity, metrics, backends, approvals } =
    parts;
  const { db } = database;
  const agents = () => listAgents(backends);
  const currency = options.config.pricing?.currency ?? 'USD';
  const statistics = createStatistics({ database, definitions: registry.current, currency, now });
  const audit: ServerDeps['audit'] = (entry) => database.write((tx) => insertAudit(tx, entry));
  return {
    version: options.version,
    now,
    log: options.logs.log,
    accessLog: options.logs.access,
    countAuthFailure: metrics.countAuthFailure,
    endedSessions: endedSessions(database, now),
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
    subscribe: subscribeTo(hub, database),
    markRun: (mark) => database.write((tx) => markRun(tx, mark)),
    markStep: (mark) => database.write((tx) => markStep(tx, mark)),
    runFeedback: (runId) => runFeedback(db, runId),
    stepFeedback: (runId, stepName) => stepFeedback(db, runId, stepName),
    definitions: registry.current,
    reload,
    listAgents: agents,
    audit,
    stepHistory: parts.history,
    listAudit: (filter, page) => listAudit(db, filter, page),
    writer: createWriter({ registry, folders: definitionFolders(options.config), files: definitionFiles }),
    ...operations,
    statistics,
    ...parts.readiness.routes,
    pages: (app, auth, apiDescription) =>
      registerPages(app, {
        apiDescription,
        ...pageStore({ database, definitions: registry.current, now }),
        ...pageApprovals(approvals),
        ...pageOperations({ operations, audit, now }),
        ...pageReadiness(parts.readiness.routes, registry),
        gatewayTools: gatewayTools(options.config.executors.gateway),
        gatewayObjects: gatewayObjects(options.config.executors.gateway),
        syncedObjects: () => readSyncedObjects(options.config.managedDir),
        statistics,
        auth,
        version: options.version,
        currency,
        now,
        runLog: (runId) => hub.history(runId, 0),
        listAudit: pageAudit(database),
        cancelRun: pageCancel({ cancel: engine.cancel, audit, now }),
        listAgents: agents,
        history: parts.history,
      }),
  };
}
