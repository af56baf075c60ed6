import { type Kysely, sql } from 'kysely';
import { camelCase } from '../../runs/state/key-case.ts';
import type { Stage, TrustReport } from '../../runs/state/model.ts';
import { isNoReplay } from '../db/rows/executions.ts';
import type { Tables } from '../db/schema.ts';
import { CUT } from '../db/bodies/packed-body.ts';
import { withTexts } from '../tables/bodies/run-bodies.ts';
import { cutColumn, MOST_OUTPUT_BYTES, outputOf } from './replay-rows.ts';
import { RUN_SUMMARY } from '../tables/replay/run-summary.ts';

export interface UnmarkedFilter {
  pipeline?: string;
  /** A fan-out step stands for its branches. */
  step?: string;
  stage?: Stage;
}

/** An answer without a mark; `completedAt` in milliseconds. */
export interface FoundStep {
  id: string;
  runId: string;
  stepName: string;
  pipelineName: string;
  stage: Stage;
  runSummary: string | null;
  source: string;
  agent: string;
  status: string;
  completedAt: number;
}

/** With what a person needs to judge it. Long texts are cut, and a report longer than those is not read. */
export interface UnmarkedStep extends FoundStep {
  trustReport: TrustReport | null;
  summary: string | null;
  output: unknown;
}

export interface UnmarkedSteps {
  steps: FoundStep[];
  /** Of what `withAnswers` reads of them. */
  bytes: number;
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
  let newest = db
    .selectFrom('runs')
    .select(['id', 'seq', 'source', RUN_SUMMARY.as('run_summary')])
    .where(isNoReplay());
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
      'step.id',
      'step.run_id',
      'step.step_name',
      'step.pipeline_name',
      'step.stage',
      'run.run_summary',
      'run.source',
      'step.agent',
      'step.status',
      'step.completed_at',
    ])
    .select(HELD.as('held'))
    .orderBy('run.seq', 'desc')
    .orderBy('step.step_index')
    .orderBy('step.started_at')
    .orderBy('step.step_name')
    .limit(limit + 1)
    .execute();
  const found = rows.slice(0, limit);
  return {
    steps: found.map(({ held: _, ...row }) => toFound(row)),
    bytes: found.reduce((sum, { held }) => sum + Number(held), 0),
    more: rows.length > limit,
  };
}

/** Of a row, in bytes; a packed answer counts as one that is cut. */
const HELD = sql<number | string>`1024 + coalesce(octet_length(step.trust_report), 0)
  + coalesce(octet_length(step.summary), 0) + case when step.output is null then 0
  when octet_length(step.output) between 1 and ${sql.lit(MOST_OUTPUT_BYTES)} then octet_length(step.output)
  else ${sql.lit(MOST_OUTPUT_BYTES)} end`;

const REPORT = sql<string | null>`case when octet_length(trust_report) <= ${sql.lit(MOST_OUTPUT_BYTES)}
  then trust_report end`;

/** The same steps with what was answered; those that are gone meanwhile are left out. */
export async function withAnswers(db: Kysely<Tables>, steps: readonly FoundStep[]): Promise<UnmarkedStep[]> {
  if (steps.length === 0) return [];
  const rows = await db
    .selectFrom('step_executions')
    .select(['id', 'run_id', 'step_name', REPORT.as('trust_report')])
    .select([cutColumn('step_executions.summary').as('summary'), cutColumn('step_executions.output').as('output')])
    .where(
      'id',
      'in',
      steps.map(({ id }) => id),
    )
    .execute();
  const answers = new Map((await withTexts(db, rows, MOST_OUTPUT_BYTES)).map((row) => [row.id, row]));
  return steps.flatMap((step) => {
    const answer = answers.get(step.id);
    if (!answer) return [];
    const { summary, output, trust_report: report } = answer;
    return [{ ...step, summary, output: outputOf(output), trustReport: reportOf(report) }];
  });
}

interface Row {
  id: string;
  run_id: string;
  step_name: string;
  pipeline_name: string;
  stage: string;
  run_summary: string | null;
  source: string;
  agent: string | null;
  status: string;
  completed_at: number | null;
}

const reportOf = (text: string | null) =>
  text === null || text.endsWith(CUT) ? null : (JSON.parse(text) as TrustReport | null);

const toFound = (row: Row): FoundStep => ({
  ...camelCase(row),
  stage: row.stage as Stage,
  agent: row.agent ?? '',
  completedAt: row.completed_at ?? 0,
});
