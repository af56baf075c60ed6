import type { Tx } from './database.ts';
import type { StepRow } from './schema.ts';
import { statement } from './statement.ts';

export type StepStart = Pick<
  StepRow,
  | 'id'
  | 'run_id'
  | 'step_name'
  | 'step_index'
  | 'kind'
  | 'executor'
  | 'agent'
  | 'model'
  | 'provider'
  | 'status'
  | 'pipeline_name'
  | 'team'
  | 'stage'
  | 'prompt_hash'
  | 'started_at'
  | 'completed_at'
  | 'attempts'
  | 'raw_response'
>;

const insertStepRow = statement<StepStart>((db, slot) =>
  db
    .insertInto('step_executions')
    .values({
      id: slot.id,
      run_id: slot.run_id,
      step_name: slot.step_name,
      step_index: slot.step_index,
      kind: slot.kind,
      executor: slot.executor,
      agent: slot.agent,
      model: slot.model,
      provider: slot.provider,
      status: slot.status,
      pipeline_name: slot.pipeline_name,
      team: slot.team,
      stage: slot.stage,
      prompt_hash: slot.prompt_hash,
      started_at: slot.started_at,
      completed_at: slot.completed_at,
      attempts: slot.attempts,
      raw_response: slot.raw_response,
    })
    // A resumed step already has its row; what it began with stays.
    .onConflict((conflict) => conflict.columns(['run_id', 'step_name']).doNothing()),
);

/** Written before the step runs (Design 8). */
export function insertStep(tx: Tx, row: StepStart): void {
  tx.run(insertStepRow, row);
}

export type StepEnd = Omit<
  StepRow,
  'run_id' | 'step_name' | 'step_index' | 'kind' | 'executor' | 'agent' | 'pipeline_name' | 'team' | 'stage' | 'prompt_hash' | 'started_at'
>;

const endStepRow = statement<StepEnd>((db, slot) =>
  db
    .updateTable('step_executions')
    .set({
      model: slot.model,
      provider: slot.provider,
      status: slot.status,
      primary_confidence: slot.primary_confidence,
      verifier_confidence: slot.verifier_confidence,
      effective_confidence: slot.effective_confidence,
      grounding_score: slot.grounding_score,
      deterministic_passed: slot.deterministic_passed,
      agent_version: slot.agent_version,
      input_tokens: slot.input_tokens,
      output_tokens: slot.output_tokens,
      cost: slot.cost,
      cost_source: slot.cost_source,
      completed_at: slot.completed_at,
      attempts: slot.attempts,
      summary: slot.summary,
      error_type: slot.error_type,
      error_message: slot.error_message,
      trust_report: slot.trust_report,
      checks: slot.checks,
      artifacts: slot.artifacts,
      next_step_context: slot.next_step_context,
      output: slot.output,
      raw_response: slot.raw_response,
    })
    .where('id', '=', slot.id),
);

export function endStep(tx: Tx, row: StepEnd): void {
  tx.run(endStepRow, row);
}

const noteAttempt = statement<{ id: string; attempts: number }>((db, slot) =>
  db.updateTable('step_executions').set({ attempts: slot.attempts }).where('id', '=', slot.id),
);

/** Stored before a retry is sent, so that a resumed step goes on with that attempt's idempotency key. */
export function countAttempt(tx: Tx, id: string, attempts: number): void {
  tx.run(noteAttempt, { id, attempts });
}
