import type { Kysely } from 'kysely';
import type { Outcome, StepStatus } from '../../runs/state/model.ts';
import { candidateName, type ReplaySample } from '../../runs/state/replay.ts';
import { readBatch } from '../tables/replay/replays.ts';
import { executionsById } from './replay-samples.ts';
import type { Tables } from '../db/schema.ts';

/** A member of a replayed set beside the row of its fresh answer. */
export interface RegressionSample extends ReplaySample {
  /** The name of the fresh answer's row in the run of the batch. */
  candidateStep: string;
  /** Null where the fresh answer was not asked for, or not yet. */
  candidate: Candidate | null;
  /** The label that the recorded execution has now; null where it has none or is gone. */
  current: Outcome | null;
}

interface Candidate {
  status: StepStatus;
  summary: string | null;
  error: string | null;
  deterministicPassed: boolean | null;
  /** A person's mark of the fresh answer. */
  mark: Outcome | null;
}

/** What a batch of one step made of its samples, in their order; null where the run is gone. */
export async function regressionSamples(db: Kysely<Tables>, runId: string): Promise<RegressionSample[] | null> {
  const batch = await readBatch(db, runId);
  if (batch === null || batch.replay.kind !== 'step') return null;
  const { stepName } = batch.replay;
  const rows = await db
    .selectFrom('step_executions')
    .leftJoin('step_feedback', (join) =>
      join
        .onRef('step_feedback.run_id', '=', 'step_executions.run_id')
        .onRef('step_feedback.step_name', '=', 'step_executions.step_name'),
    )
    .select(['step_executions.step_name', 'status', 'summary', 'error_message', 'deterministic_passed', 'outcome'])
    .where('step_executions.run_id', '=', runId)
    .execute();
  const byName = new Map(rows.map((row) => [row.step_name, row]));
  const recorded = await executionsById(
    db,
    batch.samples.flatMap(({ stepId }) => stepId ?? []),
  );
  return batch.samples.map((sample) => {
    const candidateStep = candidateName(stepName, sample.position);
    const row = byName.get(candidateStep);
    return {
      ...sample,
      candidateStep,
      candidate: row
        ? {
            status: row.status,
            summary: row.summary,
            error: row.error_message,
            deterministicPassed: row.deterministic_passed === null ? null : row.deterministic_passed === 1,
            mark: row.outcome as Outcome | null,
          }
        : null,
      current: recorded.get(sample.stepId ?? '')?.outcome ?? null,
    };
  });
}
