import { sql, type Kysely } from 'kysely';
import type { Labelled } from '../../analytics/calibration.ts';
import type { Stage } from '../../runs/state/model.ts';
import { LABEL_OF } from '../../analytics/accuracy.ts';
import { labelledRows, OUTCOME } from '../tables/labels/outcome.ts';
import { notReplayed } from '../db/rows/executions.ts';
import type { Tables } from '../db/schema.ts';

export interface CalibrationScope {
  /** Branches of a fan-out count under the name before the slash. */
  stepName: string;
  stage: Stage;
  /** All pipelines where it is left out. */
  pipelineName?: string;
}

/**
 * Answers of agents in a step that have a confidence and an outcome, counted by bucket, pipeline, confidence and label. People who
 * approve, sub-runs and groups make no bucket: their confidence is not their own, and what it is made of counts itself.
 */
export async function labelledExecutions(db: Kysely<Tables>, scope: CalibrationScope): Promise<Labelled[]> {
  const rows = await labelledRows(db, scope.stepName)
    .where('step_executions.stage', '=', scope.stage)
    .$if(scope.pipelineName !== undefined, (query) =>
      query.where('step_executions.pipeline_name', '=', scope.pipelineName as string),
    )
    .where('step_executions.executor', 'in', ['gateway', 'external'])
    .where('step_executions.kind', 'not in', ['parallel', 'fan_out'])
    .where('step_executions.effective_confidence', 'is not', null)
    .where(notReplayed())
    .select(['agent', 'provider', 'model', 'prompt_hash', 'agent_version', 'effective_confidence'])
    .select('step_executions.pipeline_name')
    .select([OUTCOME.as('label'), sql<number>`count(*)`.as('n')])
    .groupBy(['agent', 'provider', 'model', 'prompt_hash', 'agent_version', 'effective_confidence', 'label'])
    .groupBy('step_executions.pipeline_name')
    .execute();
  return rows.flatMap(({ effective_confidence: confidence, label, n, ...bucket }) =>
    confidence === null || label === null
      ? []
      : [
          {
            agent: bucket.agent,
            provider: bucket.provider,
            model: bucket.model,
            promptHash: bucket.prompt_hash,
            agentVersion: bucket.agent_version,
            confidence,
            label: LABEL_OF[label],
            n,
            pipeline: bucket.pipeline_name,
          },
        ],
  );
}
