import { limitedNamespace } from '@signalbox/crds';
import type { LoadedPipeline } from '../../definitions/snapshot.ts';
import type { ConcurrencyGroup } from './concurrency-group.ts';
import type { Stage, StepExecution, TriggerContext } from './model.ts';
import type { NewRunRecord, RawDelivery } from './records.ts';

export interface RunRequest {
  pipeline: LoadedPipeline;
  context: TriggerContext;
  team: string | null;
  dedupKey: string | null;
  /** Set for a rerun: the run it repeats, and the results it starts with. */
  rerunOf?: string;
  /** The token that asks for the run; absent for a schedule. */
  startedBy?: string | undefined;
  prior?: readonly StepExecution[];
}

/** The team of a run: that of the pipeline's namespace, before the one that the token or the definition gives. */
export const teamOf = ({ standing }: Pick<LoadedPipeline, 'standing'>, given: string | null): string | null =>
  standing.tenant?.team ?? given;

/** A run that is stored and may begin; what the engine needs without reading it back. */
export interface NewRun {
  id: string;
  pipeline: LoadedPipeline;
  context: TriggerContext;
  team: string | null;
  stage: Stage;
  triggeredAt: number;
  concurrencyGroup: ConcurrencyGroup | null;
  /** The epoch of the replica that has the run; null where the database is not shared. */
  owner: number | null;
  /** Absent for a run that repeats none. */
  rerunOf?: string | undefined;
  prior: readonly StepExecution[];
}

/** The row of a run at its beginning (Orchestration 2.1): the stage is the pipeline's at this moment. */
export function newRunRow(
  request: RunRequest,
  run: { id: string; status: 'running' | 'queued'; now: number },
  rawOf = rawDelivery,
): NewRunRecord {
  const { raw, ...context } = request.context;
  return {
    id: run.id,
    pipeline_name: request.pipeline.name,
    definition_hash: request.pipeline.hash,
    source: context.source,
    status: run.status,
    team: request.team,
    stage: request.pipeline.config.stage,
    severity: context.severity,
    summary: context.summary,
    triggered_at: run.now,
    fingerprint: context.fingerprint,
    dedup_key: request.dedupKey,
    parent_run_id: null,
    rerun_of: request.rerunOf ?? null,
    started_by: request.startedBy ?? null,
    namespace: limitedNamespace(request.pipeline.standing),
    context: JSON.stringify(context),
    raw: rawOf(raw),
  };
}

const rawDelivery = (raw: unknown): RawDelivery | null =>
  raw === undefined || raw === null ? null : { json: JSON.stringify(raw) };

/** For the runs of one delivery, which have the same `raw`: it is written as JSON once. */
export function rawOnce(): typeof rawDelivery {
  let last: { raw: unknown; delivery: RawDelivery | null } | null = null;
  return (raw) => {
    if (last === null || last.raw !== raw) last = { raw, delivery: rawDelivery(raw) };
    return last.delivery;
  };
}
