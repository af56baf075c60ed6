import { family } from '../../runs/state/hourly.ts';
import type { Tx } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import type { StepEndRecord, StepStartRecord, StepStore } from '../../runs/state/records.ts';
import { addCounters } from '../db/counters.ts';

const insertStepRow = statement<StepStartRecord & { family: string }>((db, slot) =>
  db
    .insertInto('step_executions')
    .values({
      id: slot.id,
      run_id: slot.run_id,
      step_name: slot.step_name,
      family: slot.family,
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

const endStepRow = statement<StepEndRecord>((db, slot) =>
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

const noteAttempt = statement<{ id: string; attempts: number }>((db, slot) =>
  db.updateTable('step_executions').set({ attempts: slot.attempts }).where('id', '=', slot.id),
);

/** The writes of steps, as the engine composes them (Design 8). */
export const stepStore: StepStore = {
  insertStep: (row) => async (tx: Tx) => void (await tx.run(insertStepRow, { ...row, family: family(row.step_name) })),
  endStep: (row) => async (tx: Tx) => void (await tx.run(endStepRow, row)),
  countAttempt: (id, attempts) => async (tx: Tx) => void (await tx.run(noteAttempt, { id, attempts })),
  addCounters: (counters) => (tx: Tx) => addCounters(tx, counters),
  addHourly: (row) => async (tx: Tx) => tx.sum({ table: 'hourly_steps', row }),
};
