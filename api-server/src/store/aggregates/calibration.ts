import { sql, type Kysely } from 'kysely';
import type { Labelled } from '../../analytics/calibration.ts';
import { camelCase } from '../../runs/state/key-case.ts';
import type { Outcome, Stage } from '../../runs/state/model.ts';
import { LABEL_OF } from '../../analytics/accuracy.ts';
import { labelledRows, OUTCOME } from '../tables/labels/outcome.ts';
import { notReplayed } from '../db/rows/executions.ts';
import type { Tables } from '../db/schema.ts';

/** Executions with an outcome that are alike in all of this; `n` of them. */
export interface LabelledCount {
  stage: string;
  executor: string;
  kind: string;
  pipeline: string;
  agent: string | null;
  provider: string | null;
  model: string | null;
  promptHash: string | null;
  agentVersion: string | null;
  confidence: number | null;
  label: Outcome | null;
  n: number;
}

/** Every execution of a step that has an outcome, replays left out. Branches of a fan-out count under the name before the slash. */
export async function labelledCounts(db: Kysely<Tables>, stepName: string): Promise<LabelledCount[]> {
  const rows = await labelledRows(db, stepName)
    .where(notReplayed())
    .select(['step_executions.stage', 'executor', 'kind', 'step_executions.pipeline_name as pipeline'])
    .select(['agent', 'provider', 'model', 'prompt_hash', 'agent_version', 'effective_confidence as confidence'])
    .select([OUTCOME.as('label'), sql<number>`count(*)`.as('n')])
    .groupBy(['step_executions.stage', 'executor', 'kind', 'step_executions.pipeline_name'])
    .groupBy(['agent', 'provider', 'model', 'prompt_hash', 'agent_version', 'effective_confidence', 'label'])
    .execute();
  return rows.map((row) => camelCase(row));
}

const GROUPS = new Set(['parallel', 'fan_out']);
const ASKED = new Set(['gateway', 'external']);

/**
 * Of them the answers of agents that have a confidence. People who approve, sub-runs and groups make no bucket: their confidence is not
 * their own, and what it is made of counts itself.
 */
export const labelledAnswers = (counts: readonly LabelledCount[], of: Stage): Labelled[] =>
  counts.flatMap(({ stage, executor, kind, confidence, label, ...bucket }) =>
    stage !== of || !ASKED.has(executor) || GROUPS.has(kind) || confidence === null || label === null
      ? []
      : [{ ...bucket, confidence, label: LABEL_OF[label] }],
  );

export const labelledExecutions = async (db: Kysely<Tables>, stepName: string, stage: Stage): Promise<Labelled[]> =>
  labelledAnswers(await labelledCounts(db, stepName), stage);
