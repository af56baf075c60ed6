import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import { OUTCOMES } from '../../runs/state/model.ts';
import type { FeedbackLookup, MarkResult, RunFeedback, StepFeedback } from '../../store/tables/feedback.ts';
import { idOf, StepName } from '../fields.ts';
import { route, type Route } from '../route.ts';
import { runFeedbackView, stepFeedbackView } from '../../service/views/views.ts';

export interface FeedbackRoutesDeps {
  markRun(mark: RunFeedback): Promise<MarkResult<RunFeedback>>;
  markStep(mark: StepFeedback): Promise<MarkResult<StepFeedback>>;
  runFeedback(runId: string): Promise<FeedbackLookup<RunFeedback>>;
  stepFeedback(runId: string, stepName: string): Promise<FeedbackLookup<StepFeedback>>;
  now(): number;
}

const Mark = z.strictObject({
  outcome: z.enum(OUTCOMES),
  notes: z
    .string()
    .max(10_000)
    .refine((text) => !text.includes('\0'), 'must not have NUL characters')
    .nullish()
    .transform((text) => text || null),
});

const SUFFIX = '/feedback';
const OfRun = z.strictObject({ id: idOf('run') });
/** A step's name may hold slashes, so it is what stands before the last `/feedback`, escaped or not. */
const OfStep = z.strictObject({ id: idOf('run'), '*': z.string() }).transform(({ id, '*': rest }) => {
  const name = StepName.safeParse(rest.slice(0, -SUFFIX.length));
  if (!rest.endsWith(SUFFIX) || !name.success) throw new AppError('not_found', 'there is nothing at this address');
  return { id, stepName: name.data };
});

/** Marks by people (Orchestration 2.3, 4.2). */
export const feedbackRoutes = (deps: FeedbackRoutesDeps): Route[] => [
  route({
    method: 'POST',
    url: '/runs/:id/feedback',
    role: 'operator',
    summary: 'Mark a run; a second mark overwrites the first',
    params: OfRun,
    body: Mark,
    handler: async ({ params, body, caller }) =>
      runFeedbackView(
        marked(await deps.markRun({ runId: params.id, ...body, submittedAt: deps.now(), submittedBy: caller.name })),
      ),
  }),
  route({
    method: 'GET',
    url: '/runs/:id/feedback',
    role: 'viewer',
    summary: 'The mark of a run',
    params: OfRun,
    handler: async ({ params }) => {
      const feedback = found(await deps.runFeedback(params.id));
      return { feedback: feedback && runFeedbackView(feedback) };
    },
  }),
  route({
    method: 'POST',
    url: '/runs/:id/steps/*',
    role: 'operator',
    summary: 'Mark a step: /runs/{id}/steps/{step_name}/feedback',
    params: OfStep,
    body: Mark,
    handler: async ({ params, body, caller }) => {
      const mark = {
        runId: params.id,
        stepName: params.stepName,
        ...body,
        submittedAt: deps.now(),
        submittedBy: caller.name,
      };
      return stepFeedbackView(marked(await deps.markStep(mark)));
    },
  }),
  route({
    method: 'GET',
    url: '/runs/:id/steps/*',
    role: 'viewer',
    summary: 'The mark of a step: /runs/{id}/steps/{step_name}/feedback',
    params: OfStep,
    handler: async ({ params }) => {
      const feedback = found(await deps.stepFeedback(params.id, params.stepName));
      return { feedback: feedback && stepFeedbackView(feedback) };
    },
  }),
];

const unknown = () => new AppError('not_found', 'there is no such run or step');

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
