import type { Kysely } from 'kysely';
import { camelCase } from '../../runs/state/key-case.ts';
import type { Stage, TrustReport } from '../../runs/state/model.ts';
import { isNoReplay } from '../db/rows/executions.ts';
import type { Tables } from '../db/schema.ts';
import { withTexts } from '../tables/bodies/run-bodies.ts';

export interface UnmarkedFilter {
  pipeline?: string;
  /** A fan-out step stands for its branches. */
  step?: string;
  stage?: Stage;
}

/** An answer without a mark, with what a person needs to judge it; `completedAt` in milliseconds. */
export interface UnmarkedStep {
  runId: string;
  stepName: string;
  pipelineName: string;
  stage: Stage;
  runSummary: string | null;
  source: string;
  agent: string;
  status: string;
  trustReport: TrustReport | null;
  summary: string | null;
  output: unknown;
  completedAt: number;
}

export interface UnmarkedSteps {
  steps: UnmarkedStep[];
  /** Whether older ones wait beyond `limit`. */
  more: boolean;
}

/** How many of the newest runs are looked through: what is older than these is not worth a person's time. */
export const RUNS_LOOKED_THROUGH = 2_000;
const JUDGED = ['completed', 'escalated', 'aborted', 'stopped'] as const;

/**
 * Ended answers of agents that have no label yet, neither by a mark of their own, nor by a failed check, nor by a mark of
 * their run (Orchestration 3); the newest run first. Replays are judged on pages of their own.
 */
export async function unmarkedSteps(db: Kysely<Tables>, filter: UnmarkedFilter, limit: number): Promise<UnmarkedSteps> {
  const { pipeline, stage, step } = filter;
  let newest = db.selectFrom('runs').select(['id', 'seq', 'summary', 'source']).where(isNoReplay());
  if (pipeline !== undefined) newest = newest.where('pipeline_name', '=', pipeline);
  if (stage !== undefined) newest = newest.where('stage', '=', stage);
  let query = db
    .selectFrom(newest.orderBy('seq', 'desc').limit(RUNS_LOOKED_THROUGH).as('run'))
    .innerJoin('step_executions as step', 'step.run_id', 'run.id')
    .where('step.status', 'in', JUDGED)
    .where('step.agent', 'is not', null)
    .where('step.primary_confidence', 'is not', null)
    .where(({ or, eb }) => or([eb('step.deterministic_passed', 'is', null), eb('step.deterministic_passed', '=', 1)]))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('step_feedback')
            .select('step_feedback.outcome')
            .whereRef('step_feedback.run_id', '=', 'step.run_id')
            .whereRef('step_feedback.step_name', '=', 'step.step_name'),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('run_feedback').select('run_feedback.outcome').whereRef('run_feedback.run_id', '=', 'step.run_id'),
        ),
      ),
    );
  if (step !== undefined) query = query.where('step.family', '=', step);
  const rows = await query
    .select([
      'step.run_id',
      'step.step_name',
      'step.pipeline_name',
      'step.stage',
      'run.summary as run_summary',
      'run.source',
      'step.agent',
      'step.status',
      'step.trust_report',
      'step.summary',
      'step.output',
      'step.completed_at',
    ])
    .orderBy('run.seq', 'desc')
    .orderBy('step.step_index')
    .orderBy('step.started_at')
    .orderBy('step.step_name')
    .limit(limit + 1)
    .execute();
  return { steps: (await withTexts(db, rows.slice(0, limit))).map(toUnmarked), more: rows.length > limit };
}

interface Row {
  run_id: string;
  step_name: string;
  pipeline_name: string;
  stage: string;
  run_summary: string | null;
  source: string;
  agent: string | null;
  status: string;
  trust_report: string | null;
  summary: string | null;
  output: string | null;
  completed_at: number | null;
}

const json = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

const toUnmarked = (row: Row): UnmarkedStep => ({
  ...camelCase(row),
  stage: row.stage as Stage,
  agent: row.agent ?? '',
  trustReport: json(row.trust_report) as TrustReport | null,
  output: json(row.output),
  completedAt: row.completed_at ?? 0,
});
