import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import type { ModelLabel } from '../../runs/cost/model-label.ts';
import { OUTCOMES, STAGES } from '../../runs/state/model.ts';
import type { Database, Tx } from '../../store/db/database.ts';
import { insertAudit } from '../../store/tables/audit.ts';
import { unmarkedSteps, withAnswers } from '../../store/aggregates/unmarked-steps.ts';
import {
  anyMark,
  type FeedbackLookup,
  type MarkResult,
  type RunFeedback as RunMark,
  markRun,
  markStep,
  runFeedback,
  stepFeedback,
  withdrawRunMark,
  withdrawStepMark,
  type WithdrawResult,
} from '../../store/tables/feedback.ts';
import type { Actor } from '../actor.ts';
import { auditEntry } from '../audit/record.ts';
import { count, DefinitionName, line, note } from '../fields.ts';
import type { Reading } from '../reading/reading-room.ts';
import { component } from '../views/answer.ts';
import { type RunFeedback, runFeedbackView, type StepFeedback, stepFeedbackView } from '../views/feedback.ts';
import { type MarkingQueue, markingQueueView } from '../views/analytics/marking.ts';

/** A mark as it is sent (Orchestration 2.3). */
export const Mark = component(
  'Mark',
  z.strictObject({
    outcome: z.enum(OUTCOMES),
    notes: note(10_000),
  }),
  { outcome: 'partial', notes: 'The cause is right, the fix is not.' },
);
export type Mark = z.output<typeof Mark>;

/** Query of the marking queue. A fan-out step stands for its branches. */
export const MarkingQuery = z.strictObject({
  pipeline: DefinitionName.optional(),
  step: line(160).optional(),
  stage: z.enum(STAGES).optional(),
  limit: count(1, 200).default(20),
});
export type MarkingQuery = z.output<typeof MarkingQuery>;

export interface FeedbackDeps {
  database: Pick<Database, 'db' | 'write' | 'reader'>;
  now(): number;
  /** Bounds the models that marks of steps have series for, as the steps' own are. */
  modelLabel: ModelLabel;
  reading: Reading;
}

/** Marks by people, and the results without a mark (Orchestration 2.3, 4.2). A second mark overwrites the first. */
export interface Feedback {
  /** Throws `not_found`. */
  markRun(runId: string, mark: Mark, actor: Actor): Promise<RunFeedback>;
  /** Throws `not_found`, and `conflict` while the step runs. */
  markStep(runId: string, stepName: string, mark: Mark, actor: Actor): Promise<StepFeedback>;
  /** Answers the mark that was taken back. Throws `not_found`, also where there is no mark. */
  withdrawRunMark(runId: string, actor: Actor): Promise<RunFeedback>;
  withdrawStepMark(runId: string, stepName: string, actor: Actor): Promise<StepFeedback>;
  ofRun(runId: string): Promise<RunFeedback | null>;
  ofStep(runId: string, stepName: string): Promise<StepFeedback | null>;
  /** Whether an export of marks has a line. */
  hasMarks(pipeline: string | undefined): Promise<boolean>;
  /** Results without a mark, the newest run first. Throws `unavailable` where too much is read at once. */
  unmarked(query: MarkingQuery, signal: AbortSignal): Promise<MarkingQueue>;
}

export function createFeedback({ database, now, modelLabel, reading }: FeedbackDeps): Feedback {
  const { db, write } = database;
  const marking = ({ feedback, before }: Marked, actor: Actor): Change => ({
    actor,
    at: now(),
    action: 'mark',
    runId: feedback.runId,
    outcome: before === null ? feedback.outcome : `${feedback.outcome}, was ${before}`,
  });
  const withdrawal = ({ runId, outcome }: RunMark, actor: Actor): Change => ({
    actor,
    at: now(),
    action: 'withdraw_mark',
    runId,
    outcome: `was ${outcome}`,
  });
  const given = (runId: string, mark: Mark, { name }: Actor) => ({
    runId,
    ...mark,
    submittedAt: now(),
    submittedBy: name,
  });
  return {
    markRun: async (runId, mark, actor) =>
      runFeedbackView(
        marked(
          await write(async (tx) => {
            const result = await markRun(tx, given(runId, mark, actor));
            if (result.kind === 'marked') await audit(tx, marking(result, actor), ['run', runId]);
            return result;
          }),
        ),
      ),
    markStep: async (runId, stepName, mark, actor) =>
      stepFeedbackView(
        marked(
          await write(async (tx) => {
            const result = await markStep(tx, { ...given(runId, mark, actor), stepName }, modelLabel);
            if (result.kind === 'marked') await audit(tx, marking(result, actor), ['step', stepName]);
            return result;
          }),
        ),
      ),
    withdrawRunMark: async (runId, actor) =>
      runFeedbackView(
        withdrawn(
          await write(async (tx) => {
            const result = await withdrawRunMark(tx, runId);
            if (result.kind === 'withdrawn') await audit(tx, withdrawal(result.feedback, actor), ['run', runId]);
            return result;
          }),
        ),
      ),
    withdrawStepMark: async (runId, stepName, actor) =>
      stepFeedbackView(
        withdrawn(
          await write(async (tx) => {
            const result = await withdrawStepMark(tx, { runId, stepName }, modelLabel);
            if (result.kind === 'withdrawn') await audit(tx, withdrawal(result.feedback, actor), ['step', stepName]);
            return result;
          }),
        ),
      ),
    ofRun: async (runId) => {
      const mark = found(await runFeedback(db, runId));
      return mark && runFeedbackView(mark);
    },
    ofStep: async (runId, stepName) => {
      const mark = found(await stepFeedback(db, runId, stepName));
      return mark && stepFeedbackView(mark);
    },
    hasMarks: (pipeline) => anyMark(db, pipeline),
    unmarked: async ({ limit, ...filter }, signal) => {
      const from = database.reader(signal);
      const { steps, bytes, more } = await unmarkedSteps(from, filter, limit);
      return reading(bytes, async () => markingQueueView({ steps: await withAnswers(from, steps), more }));
    },
  };
}

type Marked = Extract<MarkResult<RunMark>, { kind: 'marked' }>;

interface Change {
  actor: Actor;
  at: number;
  action: 'mark' | 'withdraw_mark';
  runId: string;
  outcome: string;
}

/** In the transaction of the change, because marks decide on promotion: what was judged, and what was there before. */
async function audit(tx: Tx, { actor, at, ...change }: Change, [targetType, target]: ['run' | 'step', string]) {
  await insertAudit(tx, auditEntry(actor, at, { ...change, targetType, target }));
}

const unknown = () => new AppError('not_found', 'no run or step has this name');

function marked<T>(result: MarkResult<T>): T {
  switch (result.kind) {
    case 'marked':
      return result.feedback;
    case 'not_found':
      throw unknown();
    case 'running':
      throw new AppError('conflict', 'the step is still running and has no result to judge');
    default:
      return result satisfies never;
  }
}

function withdrawn<T>(result: WithdrawResult<T>): T {
  switch (result.kind) {
    case 'withdrawn':
      return result.feedback;
    case 'not_found':
      throw unknown();
    case 'not_marked':
      throw new AppError('not_found', 'there is no mark to withdraw');
    default:
      return result satisfies never;
  }
}

function found<T>(result: FeedbackLookup<T>): T | null {
  if (result.kind === 'not_found') throw unknown();
  return result.feedback;
}
