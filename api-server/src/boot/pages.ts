import { listAudit } from '../store/tables/audit.ts';
import { runDefinition } from '../store/tables/definitions.ts';
import type { Database } from '../store/db/database.ts';
import { markRun, markStep } from '../store/tables/feedback.ts';
import { listRuns, type RunFilter } from '../store/tables/list-runs.ts';
import { runDetail } from '../store/tables/run-detail.ts';
import { unmarkedSteps } from '../store/aggregates/unmarked-steps.ts';
import { auditView } from '../service/views/audit.ts';
import { auditBy, type AuditDeps, cancelDeed } from '../web/auth/audit-by.ts';
import { runDetailView, runLine, unmarkedLine } from '../service/views/views.ts';
import type { Snapshot } from '../definitions/snapshot.ts';
import type { RunStatus, Stage } from '../runs/state/model.ts';
import type { OperationRoutesDeps } from '../web/routes/operations.ts';
import type { RunRoutesDeps } from '../web/routes/runs.ts';
import type { DefinitionEntry, PageDeps, RunsQuery } from '../web/pages/page-deps.ts';
import type { RunsPage } from '../web/pages/wire.ts';

/** What pages share with the rest of the service; the other functions come from where the JSON routes take them. */
export interface Shared {
  database: Database;
  definitions(): Snapshot;
  now(): number;
}

/** What pages and JSON routes do alike. */
export type Operations = Pick<OperationRoutesDeps, 'rerun' | 'schedules' | 'artifact'>;

/** The log as `GET /audit` answers it. */
export function pageAudit({ db }: Database): PageDeps['listAudit'] {
  return async ({ limit, offset, since, until, target_type: targetType, ...filter }) => {
    const time = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
    const { rows, total } = await listAudit(
      db,
      { ...filter, targetType, since: time(since), until: time(until) },
      { limit, offset },
    );
    return { rows: rows.map(auditView), total };
  };
}

/** Cancelling for people, audited as a cancel through the JSON route is. */
export const pageCancel =
  ({ cancel, audit, now }: AuditDeps & Pick<RunRoutesDeps, 'cancel'>): PageDeps['cancelRun'] =>
  async (runId, by, requestId) => {
    const result = await cancel(runId, by.name);
    const write = auditBy({ audit, now }, { caller: by, request: { id: requestId } });
    if (result === 'cancelled') await write(cancelDeed(runId));
    return result;
  };

interface Operating extends Pick<OperationRoutesDeps, 'audit' | 'now'> {
  operations: Operations;
}

/** Reruns, schedules and artifacts for people; a rerun is audited as one through the JSON route is (Design 5). */
export function pageOperations({
  operations,
  audit,
  now,
}: Operating): Pick<PageDeps, 'rerun' | 'artifact' | 'schedules'> {
  return {
    schedules: operations.schedules,
    artifact: operations.artifact,
    rerun: async ({ runId, fromStep, by, requestId }) => {
      const result = await operations.rerun(runId, fromStep);
      if (result.kind === 'not_found') return { kind: 'not_found' };
      if (result.kind !== 'started') return result;
      const { verdict } = result;
      if (verdict.status === 'at_capacity') return { kind: 'at_capacity', message: verdict.message };
      await audit({
        ts: now(),
        actor: by.name,
        actorKind: 'token',
        role: by.role,
        action: 'rerun',
        targetType: 'run',
        target: runId,
        runId: verdict.runId,
        outcome: verdict.status,
        priorYaml: null,
        requestId,
      });
      return { kind: 'started', runId: verdict.runId };
    },
  };
}

type Stored = Pick<
  PageDeps,
  'listRuns' | 'runDetail' | 'runDefinition' | 'giveFeedback' | 'unmarkedSteps' | 'definitions'
>;

/** The reads and marks of the pages: the same functions and views as the JSON routes. */
export function pageStore({ database, definitions, now }: Shared): Stored {
  return {
    listRuns: (query) => pageOfRuns(database, query),
    runDetail: async (id) => {
      const found = await runDetail(database.db, id, { raw: false });
      return found && runDetailView(found);
    },
    runDefinition: (id) => runDefinition(database.db, id),
    unmarkedSteps: async ({ limit, ...filter }) => {
      const { steps, more } = await unmarkedSteps(database.db, filter, limit);
      return { steps: steps.map(unmarkedLine), more };
    },
    giveFeedback: async ({ runId, stepName, outcome, notes, by }) => {
      const mark = { runId, outcome, notes, submittedAt: now(), submittedBy: by.name };
      const result = await database.write((tx) =>
        stepName === null ? markRun(tx, mark) : markStep(tx, { ...mark, stepName }),
      );
      return result.kind === 'marked' ? 'ok' : result.kind;
    },
    definitions: () => {
      const { pipelines, steps, problems, loadedAt } = definitions();
      return { pipelines: pipelines.map(entry), steps: steps.map(entry), problems: [...problems], loadedAt };
    },
  };
}

const entry = (definition: {
  name: string;
  file: string;
  text: string;
  hash: string;
  config: object;
  uses?: string[];
}): DefinitionEntry => ({
  name: definition.name,
  file: definition.file,
  text: definition.text,
  hash: definition.hash,
  config: definition.config as Record<string, unknown>,
  uses: definition.uses,
});

async function pageOfRuns({ db }: Database, query: RunsQuery): Promise<RunsPage> {
  const { limit, offset, since, until, status, stage, ...rest } = query;
  const filter: RunFilter = {
    ...rest,
    status: status?.split(',') as RunStatus[] | undefined,
    stage: stage as Stage | undefined,
    since: since === undefined ? undefined : Date.parse(since),
    until: until === undefined ? undefined : Date.parse(until),
  };
  const list = await listRuns(db, filter, { limit, offset });
  return {
    runs: list.runs.map(runLine),
    limit,
    offset,
    total: list.total,
    total_is_lower_bound: list.totalIsLowerBound,
  };
}
