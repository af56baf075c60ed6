import type { LoadedPipeline } from '../definitions/snapshot.ts';
import type { NewRunRow } from '../store/run-writes.ts';
import type { Stage, TriggerContext } from './model.ts';

export interface RunRequest {
  pipeline: LoadedPipeline;
  context: TriggerContext;
  team: string | null;
  dedupKey: string | null;
}

/** A run that is stored and may begin; what the engine needs without reading it back. */
export interface NewRun {
  id: string;
  pipeline: LoadedPipeline;
  context: TriggerContext;
  team: string | null;
  stage: Stage;
  triggeredAt: number;
}

/** The row of a run at its beginning (Orchestration 2.1): the stage is the pipeline's at this moment. */
export function newRunRow(request: RunRequest, run: { id: string; status: 'running' | 'queued'; now: number }): NewRunRow {
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
    completed_at: null,
    fingerprint: context.fingerprint,
    dedup_key: request.dedupKey,
    parent_run_id: null,
    rerun_of: null,
    waiting_on: null,
    error_step: null,
    error_message: null,
    trust: null,
    threshold: null,
    input_tokens: 0,
    output_tokens: 0,
    cost: null,
    unpriced_steps: 0,
    context: JSON.stringify(context),
    raw: raw === undefined ? null : JSON.stringify(raw),
  };
}
