import type { StepExecution } from '../../runs/state/model.ts';
import type { Tx } from '../db/database.ts';
import { stepStore } from './step-writes.ts';

export interface PriorStepsOf {
  runId: string;
  pipelineName: string;
  stage: string;
  newId(now: number): string;
  now: number;
}

/**
 * Writes the results that a rerun starts with: rows of status `skipped`, which no statistic counts, that say whose result
 * they carry. A restart rebuilds the rerun from them.
 */
export async function insertPrior(tx: Tx, prior: readonly StepExecution[], of: PriorStepsOf): Promise<void> {
  for (const step of prior) {
    const id = of.newId(of.now);
    const raw = JSON.stringify({
      ...step.rawResponse,
      loaded: { stepId: step.id, status: step.rawResponse?.loaded?.status ?? step.status },
    });
    await run(
      tx,
      stepStore.insertStep({
        id,
        run_id: of.runId,
        step_name: step.stepName,
        step_index: step.stepIndex,
        kind: step.kind,
        executor: step.executor,
        agent: step.agent,
        model: step.model,
        provider: step.provider,
        status: 'skipped',
        pipeline_name: of.pipelineName,
        team: null,
        stage: of.stage,
        prompt_hash: step.promptHash,
        started_at: of.now,
        completed_at: of.now,
        attempts: 0,
        raw_response: raw,
      }),
    );
    await run(
      tx,
      stepStore.endStep({
        id,
        model: step.model,
        provider: step.provider,
        status: 'skipped',
        primary_confidence: step.primaryConfidence,
        verifier_confidence: step.verifierConfidence,
        effective_confidence: step.effectiveConfidence,
        grounding_score: step.groundingScore,
        deterministic_passed: step.deterministicPassed === null ? null : Number(step.deterministicPassed),
        agent_version: step.agentVersion,
        input_tokens: null,
        output_tokens: null,
        cost: null,
        cost_source: null,
        completed_at: of.now,
        attempts: 0,
        summary: step.summary,
        error_type: null,
        error_message: null,
        trust_report: step.trustReport && JSON.stringify(step.trustReport),
        checks: null,
        artifacts: null,
        next_step_context: step.nextStepContext == null ? null : JSON.stringify(step.nextStepContext),
        output: step.output && JSON.stringify(step.output),
        raw_response: raw,
      }),
    );
  }
}

const run = (tx: Tx, write: (tx: never) => Promise<void>): Promise<void> => (write as (tx: Tx) => Promise<void>)(tx);
