import type { Kysely } from 'kysely';
import { camelCase, snakeCase } from '../../runs/state/key-case.ts';
import type { ModelLabel } from '../../runs/cost/model-label.ts';
import type { Outcome } from '../../runs/state/model.ts';
import { addCounters, type Counter } from '../db/counters.ts';
import type { Tx } from '../db/database.ts';
import type { StepRow } from '../db/rows/step-row.ts';
import type { Tables } from '../db/schema.ts';
import { relabel, relabelStep } from './labels/relabel.ts';

/** A mark of a whole run (Orchestration 2.3); `submittedAt` in milliseconds. */
export interface RunFeedback {
  runId: string;
  outcome: Outcome;
  notes: string | null;
  submittedAt: number;
  submittedBy: string;
}

export interface StepFeedback extends RunFeedback {
  stepName: string;
}

/** `before`: the outcome that was overwritten. `running`: a step without a result has nothing to judge yet. */
export type MarkResult<T> =
  | { kind: 'marked'; feedback: T; before: string | null }
  | { kind: 'not_found' }
  | { kind: 'running' };

/** `feedback`: the mark that was withdrawn. `not_marked`: there is nothing to withdraw. */
export type WithdrawResult<T> = { kind: 'withdrawn'; feedback: T } | { kind: 'not_found' } | { kind: 'not_marked' };

export type FeedbackLookup<T> = { kind: 'found'; feedback: T | null } | { kind: 'not_found' };

/** Marks a run or overwrites its mark; production marks move the roll-up in the same transaction (Orchestration 3 and 6). */
export async function markRun(tx: Tx, mark: RunFeedback): Promise<MarkResult<RunFeedback>> {
  await tx.lock(`mark ${mark.runId}`);
  const run = await tx.db
    .selectFrom('runs')
    .select(['pipeline_name', 'stage'])
    .where('id', '=', mark.runId)
    .executeTakeFirst();
  if (!run) return { kind: 'not_found' };
  const before = await tx.db
    .selectFrom('run_feedback')
    .select('outcome')
    .where('run_id', '=', mark.runId)
    .executeTakeFirst();
  const row = snakeCase(mark);
  await tx.db
    .insertInto('run_feedback')
    .values(row)
    .onConflict((conflict) => conflict.column('run_id').doUpdateSet(row))
    .execute();
  await noteMarked(tx, mark.runId);
  await relabel(tx, mark.runId);
  const moved = moves('pipeline_feedback_total', [run.pipeline_name], { from: before?.outcome, to: mark.outcome });
  if (run.stage === 'production') addCounters(tx, moved);
  return { kind: 'marked', feedback: mark, before: before?.outcome ?? null };
}

/** The run has, or had, a mark of its own or of a step. */
async function noteMarked({ db }: Tx, runId: string): Promise<void> {
  await db
    .insertInto('marked_runs')
    .columns(['run_id', 'seq', 'pipeline_name', 'stage', 'triggered_at'])
    .expression(
      db
        .selectFrom('runs')
        .select(['id as run_id', 'seq', 'pipeline_name', 'stage', 'triggered_at'])
        .where('id', '=', runId),
    )
    .onConflict((conflict) => conflict.column('run_id').doNothing())
    .execute();
}

/** The same for one step execution; a fan-out branch counts under the name before the slash. */
export async function markStep(
  tx: Tx,
  mark: StepFeedback,
  modelLabel: ModelLabel = AS_NAMED,
): Promise<MarkResult<StepFeedback>> {
  await tx.lock(`mark ${mark.runId}`);
  const step = await tx.db
    .selectFrom('step_executions')
    .select([...MARKED, 'status'])
    .where('run_id', '=', mark.runId)
    .where('step_name', '=', mark.stepName)
    .executeTakeFirst();
  if (!step) return { kind: 'not_found' };
  if (step.status === 'running') return { kind: 'running' };
  const before = await tx.db
    .selectFrom('step_feedback')
    .select('outcome')
    .where('run_id', '=', mark.runId)
    .where('step_name', '=', mark.stepName)
    .executeTakeFirst();
  const row = snakeCase(mark);
  await tx.db
    .insertInto('step_feedback')
    .values(row)
    .onConflict((conflict) => conflict.columns(['run_id', 'step_name']).doUpdateSet(row))
    .execute();
  await noteMarked(tx, mark.runId);
  await relabelStep(tx, step);
  const outcomes = { from: before?.outcome, to: mark.outcome };
  if (step.stage === 'production') addCounters(tx, moves('step_feedback_total', labelsOf(step, modelLabel), outcomes));
  return { kind: 'marked', feedback: mark, before: before?.outcome ?? null };
}

/** Takes the mark of a run back; what it added to the roll-up goes with it, in the same transaction. */
export async function withdrawRunMark(tx: Tx, runId: string): Promise<WithdrawResult<RunFeedback>> {
  await tx.lock(`mark ${runId}`);
  const run = await tx.db
    .selectFrom('runs')
    .select(['pipeline_name', 'stage'])
    .where('id', '=', runId)
    .executeTakeFirst();
  if (!run) return { kind: 'not_found' };
  const row = await tx.db.deleteFrom('run_feedback').where('run_id', '=', runId).returningAll().executeTakeFirst();
  if (!row) return { kind: 'not_marked' };
  await relabel(tx, runId);
  const moved = moves('pipeline_feedback_total', [run.pipeline_name], { from: row.outcome });
  if (run.stage === 'production') addCounters(tx, moved);
  return { kind: 'withdrawn', feedback: toFeedback(row) };
}

/** The same for one step execution. */
export async function withdrawStepMark(
  tx: Tx,
  { runId, stepName }: Pick<StepFeedback, 'runId' | 'stepName'>,
  modelLabel: ModelLabel,
): Promise<WithdrawResult<StepFeedback>> {
  await tx.lock(`mark ${runId}`);
  const step = await tx.db
    .selectFrom('step_executions')
    .select(MARKED)
    .where('run_id', '=', runId)
    .where('step_name', '=', stepName)
    .executeTakeFirst();
  if (!step) return { kind: 'not_found' };
  const row = await tx.db
    .deleteFrom('step_feedback')
    .where('run_id', '=', runId)
    .where('step_name', '=', stepName)
    .returningAll()
    .executeTakeFirst();
  if (!row) return { kind: 'not_marked' };
  await relabelStep(tx, step);
  if (step.stage === 'production')
    addCounters(tx, moves('step_feedback_total', labelsOf(step, modelLabel), { from: row.outcome }));
  return { kind: 'withdrawn', feedback: toFeedback(row) };
}

/** What a mark of an execution counts under, and what finds its row among the judged ones. */
const MARKED = [
  'id',
  'run_id',
  'step_name',
  'family',
  'stage',
  'started_at',
  'pipeline_name',
  'agent',
  'model',
  'provider',
] as const;

type MarkedStep = Pick<StepRow, 'pipeline_name' | 'family' | 'agent' | 'model' | 'provider'>;

const AS_NAMED: ModelLabel = (model) => model;

const labelsOf = (step: MarkedStep, modelLabel: ModelLabel): string[] => [
  step.pipeline_name,
  step.family,
  step.agent ?? '',
  modelLabel(step.model) ?? '',
  step.provider ?? '',
];

/** A new mark adds one; another outcome takes it from the old one; the same outcome changes nothing; none at all takes it. */
function moves(metric: string, labels: string[], { from, to }: { from?: string | undefined; to?: string }): Counter[] {
  if (from === to) return [];
  const one = (outcome: string | undefined, value: number) =>
    outcome === undefined ? [] : [{ metric, labels: [...labels, outcome], value }];
  return [...one(from, -1), ...one(to, 1)];
}

export async function runFeedback(db: Kysely<Tables>, runId: string): Promise<FeedbackLookup<RunFeedback>> {
  const known = await db.selectFrom('runs').select('id').where('id', '=', runId).executeTakeFirst();
  if (!known) return { kind: 'not_found' };
  const row = await db.selectFrom('run_feedback').selectAll().where('run_id', '=', runId).executeTakeFirst();
  return { kind: 'found', feedback: row ? toFeedback(row) : null };
}

export async function stepFeedback(
  db: Kysely<Tables>,
  runId: string,
  stepName: string,
): Promise<FeedbackLookup<StepFeedback>> {
  const known = await db
    .selectFrom('step_executions')
    .select('id')
    .where('run_id', '=', runId)
    .where('step_name', '=', stepName)
    .executeTakeFirst();
  if (!known) return { kind: 'not_found' };
  const row = await db
    .selectFrom('step_feedback')
    .selectAll()
    .where('run_id', '=', runId)
    .where('step_name', '=', stepName)
    .executeTakeFirst();
  return { kind: 'found', feedback: row ? toFeedback(row) : null };
}

/** Whether a run or a step of the pipeline has a mark; of any pipeline where none is named. */
export async function anyMark(db: Kysely<Tables>, pipeline: string | undefined): Promise<boolean> {
  let marked = db
    .selectFrom('marked_runs')
    .select('run_id')
    .where(({ or, exists, selectFrom }) =>
      or([
        exists(selectFrom('run_feedback').select('outcome').whereRef('run_feedback.run_id', '=', 'marked_runs.run_id')),
        exists(
          selectFrom('step_feedback').select('outcome').whereRef('step_feedback.run_id', '=', 'marked_runs.run_id'),
        ),
      ]),
    );
  if (pipeline !== undefined) marked = marked.where('pipeline_name', '=', pipeline);
  return (await marked.limit(1).executeTakeFirst()) !== undefined;
}

/** All marks of one run. */
export async function feedbackOfRun(
  db: Kysely<Tables>,
  runId: string,
): Promise<{ run: RunFeedback | null; steps: Map<string, StepFeedback> }> {
  const run = await db.selectFrom('run_feedback').selectAll().where('run_id', '=', runId).executeTakeFirst();
  const steps = await db.selectFrom('step_feedback').selectAll().where('run_id', '=', runId).execute();
  return {
    run: run ? toFeedback(run) : null,
    steps: new Map(steps.map((row) => [row.step_name, toFeedback(row)])),
  };
}

const toFeedback = <Row extends Tables['run_feedback']>(row: Row) => ({
  ...camelCase(row),
  outcome: row.outcome as Outcome,
});
