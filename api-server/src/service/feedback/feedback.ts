import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import { OUTCOMES } from '../../runs/state/model.ts';
import type { Database, Tx } from '../../store/db/database.ts';
import { insertAudit } from '../../store/tables/audit.ts';
import { type UnmarkedFilter, unmarkedSteps } from '../../store/aggregates/unmarked-steps.ts';
import {
  type FeedbackLookup,
  type MarkResult,
  type RunFeedback as RunMark,
  markRun,
  markStep,
  runFeedback,
  stepFeedback,
} from '../../store/tables/feedback.ts';
import type { Actor } from '../actor.ts';
import { component } from '../views/answer.ts';
import { type RunFeedback, runFeedbackView, type StepFeedback, stepFeedbackView } from '../views/feedback.ts';
import { type MarkingQueue, markingQueueView } from '../views/analytics/marking.ts';

/** A mark as it is sent (Orchestration 2.3). */
export const Mark = component(
  'Mark',
  z.strictObject({
    outcome: z.enum(OUTCOMES),
    notes: z
      .string()
      .max(10_000)
      .refine((text) => !text.includes('\0'), 'must not contain NUL characters')
      .nullish()
      .transform((text) => text || null),
  }),
  { outcome: 'partial', notes: 'The cause is right, the fix is not.' },
);
export type Mark = z.output<typeof Mark>;

export interface FeedbackDeps {
  database: Pick<Database, 'db' | 'write'>;
  now(): number;
}

/** Marks by people, and the results without a mark (Orchestration 2.3, 4.2). A second mark overwrites the first. */
export interface Feedback {
  /** Throws `not_found`. */
  markRun(runId: string, mark: Mark, actor: Actor): Promise<RunFeedback>;
  /** Throws `not_found`, and `conflict` while the step runs. */
  markStep(runId: string, stepName: string, mark: Mark, actor: Actor): Promise<StepFeedback>;
  ofRun(runId: string): Promise<RunFeedback | null>;
  ofStep(runId: string, stepName: string): Promise<StepFeedback | null>;
  /** Results without a mark, the newest run first. */
  unmarked(filter: UnmarkedFilter, limit: number): Promise<MarkingQueue>;
}

export function createFeedback({ database, now }: FeedbackDeps): Feedback {
  const { db, write } = database;
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
            await audit(tx, result, { actor, at: now(), target: ['run', runId] });
            return result;
          }),
        ),
      ),
    markStep: async (runId, stepName, mark, actor) =>
      stepFeedbackView(
        marked(
          await write(async (tx) => {
            const result = await markStep(tx, { ...given(runId, mark, actor), stepName });
            await audit(tx, result, { actor, at: now(), target: ['step', stepName] });
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
    unmarked: async (filter, limit) => markingQueueView(await unmarkedSteps(db, filter, limit)),
  };
}

interface Marking {
  actor: Actor;
  at: number;
  target: ['run' | 'step', string];
}

/** In the transaction of the mark, because marks decide on promotion: what was judged, and what that overwrote. */
async function audit(tx: Tx, result: MarkResult<RunMark>, { actor, at, target }: Marking): Promise<void> {
  if (result.kind !== 'marked') return;
  const { feedback, before } = result;
  const [targetType, name] = target;
  await insertAudit(tx, {
    ts: at,
    actor: actor.name,
    actorKind: actor.kind,
    role: actor.role,
    action: 'mark',
    targetType,
    target: name,
    runId: feedback.runId,
    outcome: before === null ? feedback.outcome : `${feedback.outcome}, was ${before}`,
    priorYaml: null,
    requestId: actor.requestId,
  });
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

function found<T>(result: FeedbackLookup<T>): T | null {
  if (result.kind === 'not_found') throw unknown();
  return result.feedback;
}
