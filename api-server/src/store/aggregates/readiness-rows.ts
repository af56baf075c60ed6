import type { Kysely } from 'kysely';
import type { EvidenceRow, Outcome } from '../../analytics/readiness/evidence.ts';
import { camelCase } from '../../runs/state/key-case.ts';
import type { Stage } from '../../runs/state/model.ts';
import { isNoReplay } from '../db/rows/executions.ts';
import type { Tables } from '../db/schema.ts';

export interface EvidenceSlice {
  pipeline: string;
  stage: Stage;
  /** Only runs before this sequence; null for the newest. */
  before: number | null;
  runs: number;
}

export interface SliceOfEvidence {
  rows: EvidenceRow[];
  /** From where an older slice goes on; null where there is none. */
  next: number | null;
}

/** The executions of some of a pipeline's runs at one stage, newest run first, without those that tried something out. */
export async function readinessRows(db: Kysely<Tables>, slice: EvidenceSlice): Promise<SliceOfEvidence> {
  const runs = await db
    .selectFrom('runs')
    .select(['id', 'seq'])
    .where('pipeline_name', '=', slice.pipeline)
    .where('stage', '=', slice.stage)
    .where(isNoReplay())
    .$if(slice.before !== null, (query) => query.where('seq', '<', slice.before as number))
    .orderBy('seq', 'desc')
    .limit(slice.runs)
    .execute();
  const oldest = runs.at(-1);
  if (!oldest) return { rows: [], next: null };
  const rows = await db
    .selectFrom('step_executions')
    .leftJoin('step_feedback', (join) =>
      join
        .onRef('step_feedback.run_id', '=', 'step_executions.run_id')
        .onRef('step_feedback.step_name', '=', 'step_executions.step_name'),
    )
    .leftJoin('run_feedback', 'run_feedback.run_id', 'step_executions.run_id')
    .select([
      'step_executions.run_id',
      'step_executions.step_name',
      'step_executions.agent',
      'step_executions.provider',
      'step_executions.model',
      'step_executions.prompt_hash',
      'step_executions.agent_version',
      'step_executions.status',
      'step_executions.error_type',
      'step_executions.effective_confidence as confidence',
      'step_executions.grounding_score as grounding',
      'step_executions.deterministic_passed',
      'step_executions.started_at',
      'step_feedback.outcome as step_outcome',
      'run_feedback.outcome as run_outcome',
    ])
    .where(
      'step_executions.run_id',
      'in',
      runs.map(({ id }) => id),
    )
    .execute();
  return { rows: rows.map(toRow), next: runs.length < slice.runs ? null : oldest.seq };
}

interface Selected {
  run_id: string;
  step_name: string;
  agent: string | null;
  provider: string | null;
  model: string | null;
  prompt_hash: string | null;
  agent_version: string | null;
  status: string;
  error_type: string | null;
  confidence: number | null;
  grounding: number | null;
  deterministic_passed: number | null;
  started_at: number;
  step_outcome: string | null;
  run_outcome: string | null;
}

const toRow = ({ deterministic_passed: passed, ...row }: Selected): EvidenceRow => ({
  ...camelCase(row),
  checksPassed: passed === null ? null : passed === 1,
  stepOutcome: row.step_outcome as Outcome | null,
  runOutcome: row.run_outcome as Outcome | null,
});
