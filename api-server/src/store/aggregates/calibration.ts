import { sql, type Kysely } from 'kysely';
import type { Labelled } from '../../analytics/calibration.ts';
import { camelCase } from '../../runs/state/key-case.ts';
import type { Outcome, Stage } from '../../runs/state/model.ts';
import { LABEL_OF } from '../../analytics/accuracy.ts';
import type { Tables } from '../db/schema.ts';

/** Executions with an outcome that are alike in all of this; `n` of them. */
export interface LabelledCount {
  stage: string;
  executor: string;
  pipeline: string;
  agent: string | null;
  provider: string | null;
  model: string | null;
  promptHash: string | null;
  agentVersion: string | null;
  confidence: number | null;
  label: Outcome;
  n: number;
}

/** Every execution of a step that has an outcome, replays left out. Branches of a fan-out count under the name before the slash. */
export async function labelledCounts(db: Kysely<Tables>, stepName: string): Promise<LabelledCount[]> {
  const rows = await db
    .selectFrom('judged_steps')
    .select(['stage', 'executor', 'pipeline_name as pipeline', 'agent', 'provider', 'model', 'prompt_hash'])
    .select(['agent_version', 'effective_confidence as confidence', 'outcome as label'])
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('family', '=', stepName)
    .where(sql<boolean>`run_id not in (select run_id from replays)`)
    .groupBy(['stage', 'executor', 'pipeline_name', 'agent', 'provider', 'model', 'prompt_hash'])
    .groupBy(['agent_version', 'effective_confidence', 'outcome'])
    .execute();
  return rows.map((row) => camelCase(row));
}

const ASKED = new Set(['gateway', 'external']);

/**
 * Of them the answers of agents that have a confidence. People who approve, sub-runs and groups make no bucket: their confidence is not
 * their own, and what it is made of counts itself.
 */
export const labelledAnswers = (counts: readonly LabelledCount[], of: Stage): Labelled[] =>
  counts.flatMap(({ stage, executor, confidence, label, ...bucket }) =>
    stage !== of || !ASKED.has(executor) || confidence === null
      ? []
      : [{ ...bucket, confidence, label: LABEL_OF[label] }],
  );

export const labelledExecutions = async (db: Kysely<Tables>, stepName: string, stage: Stage): Promise<Labelled[]> =>
  labelledAnswers(await labelledCounts(db, stepName), stage);
