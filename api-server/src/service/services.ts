import type { Approvals } from './approvals/approvals.ts';
import { createDecisions, type Decisions } from './approvals/decisions.ts';
import type { Escalations } from './attention/attention.ts';
import { type AuditLog, createAuditLog } from './audit/audit.ts';
import { createRecord } from './audit/record.ts';
import { type Bulk, createBulk } from './bulk/bulk.ts';
import { type Cluster, type ClusterDeps, createCluster } from './cluster/cluster.ts';
import { createDefinitions, type Definitions, type DefinitionsDeps } from './definitions/definitions.ts';
import { createDefinitionWrites, type DefinitionWrites, type DefinitionWritesDeps } from './definitions/writes.ts';
import { createDeliveries, type Deliveries, type DeliveriesDeps } from './deliveries/deliveries.ts';
import { createKeptDeliveries, type KeptDeliveries, type KeptDeliveriesDeps } from './deliveries/kept.ts';
import { createExports, type Exports } from './exports/exports.ts';
import { createFeedback, type Feedback, type FeedbackDeps } from './feedback/feedback.ts';
import { createGoldenSets, type GoldenSets } from './golden-sets/golden-sets.ts';
import { createHistory, type History, type HistoryDeps } from './history/history.ts';
import { createEvaluations, type Evaluations, type EvaluationsDeps } from './readiness/evaluations.ts';
import { createRegressions, type Regressions, type RegressionsDeps } from './regressions/regressions.ts';
import { createReadingRoom } from './reading/reading-room.ts';
import { createReplays, type Replays, type ReplaysDeps } from './replay/replay.ts';
import { createRuns, type Runs, type RunsDeps } from './runs/runs.ts';
import { createStatistics, type Statistics, type StatisticsDeps } from './statistics/statistics.ts';
import { createStatus, type Status, type StatusDeps } from './status/status.ts';
import {
  createNotificationLog,
  type NotificationLog,
  type NotificationLogDeps,
} from './notifications/notifications.ts';
import { createSchedules, type SchedulesDeps } from './schedules/schedules.ts';
import type { ScheduleLine } from './views/schedule.ts';
import type { Database } from '../store/db/database.ts';
import { type AuditEntry, insertAudit } from '../store/tables/audit.ts';

/** All use cases of the service. Routes, pages and the command line call only these. */
export interface Services {
  deliveries: Deliveries;
  keptDeliveries: KeptDeliveries;
  runs: Runs;
  approvals: Decisions;
  notifications: NotificationLog;
  feedback: Feedback;
  escalations: Escalations;
  bulk: Bulk;
  definitions: Definitions;
  definitionWrites: DefinitionWrites;
  schedules(): Promise<ScheduleLine[]>;
  statistics: Statistics;
  history: History;
  readiness: Evaluations;
  goldenSets: GoldenSets;
  replays: Replays;
  regressions: Regressions;
  exports: Exports;
  audit: AuditLog;
  cluster: Cluster;
  status: Status;
}

/** Dependencies of the use cases. */
export interface ServiceParts
  extends
    DeliveriesDeps,
    Pick<KeptDeliveriesDeps, 'flushDeliveries'>,
    Omit<RunsDeps, 'record' | 'reading'>,
    Omit<FeedbackDeps, 'reading'>,
    Omit<DefinitionsDeps, 'record'>,
    Omit<DefinitionWritesDeps, 'record'>,
    Omit<StatisticsDeps, 'database' | 'definitions'>,
    Omit<HistoryDeps, 'database'>,
    Omit<EvaluationsDeps, 'pipeline'>,
    Omit<ReplaysDeps, 'reading'>,
    Pick<NotificationLogDeps, 'sendSoon'>,
    StatusDeps,
    ClusterDeps {
  database: Database;
  approvals: Pick<Approvals, 'list' | 'countWaiting' | 'find' | 'decide' | 'rules'>;
  escalations: Escalations;
  listSchedules: SchedulesDeps['listSchedules'];
  regressing: Pick<RegressionsDeps, 'regressions' | 'regressionAlert' | 'sendSoon' | 'publicUrl' | 'log'>;
}

export function createServices(parts: ServiceParts): Services {
  const { database, now } = parts;
  const audit = (entry: AuditEntry) => database.write((tx) => insertAudit(tx, entry));
  const deps = { ...parts, record: createRecord({ audit, now }), reading: createReadingRoom() };
  const definitions = createDefinitions(deps);
  const deliveries = createDeliveries(deps);
  const replays = createReplays(deps);
  const runs = createRuns(deps);
  const feedback = createFeedback(deps);
  const { escalations } = parts;
  return {
    deliveries,
    keptDeliveries: createKeptDeliveries({ ...deps, take: deliveries.take }),
    runs,
    approvals: createDecisions(parts.approvals),
    notifications: createNotificationLog(deps),
    feedback,
    escalations,
    bulk: createBulk({ runs, feedback, escalations }),
    definitions,
    definitionWrites: createDefinitionWrites(deps),
    schedules: createSchedules(parts),
    statistics: createStatistics(deps),
    history: createHistory(deps),
    readiness: createEvaluations({ ...deps, pipeline: definitions.pipeline }),
    goldenSets: createGoldenSets(deps),
    replays,
    regressions: createRegressions({ ...deps, ...parts.regressing, start: replays.start }),
    exports: createExports(database),
    audit: createAuditLog(database),
    cluster: createCluster(parts),
    status: createStatus(deps),
  };
}
