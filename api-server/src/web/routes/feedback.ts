import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import { Mark, MarkingQuery } from '../../service/feedback/feedback.ts';
import { idOf, StepName } from '../../service/fields.ts';
import type { Services } from '../../service/services.ts';
import { RunFeedback, RunFeedbackLookup, StepFeedback, StepFeedbackLookup } from '../../service/views/feedback.ts';
import { MarkingQueue } from '../../service/views/analytics/marking.ts';
import { route, type Route } from '../route.ts';

const SUFFIX = '/feedback';
const OfRun = z.strictObject({ id: idOf('run') });
/** A step's name may hold slashes, so it is what stands before the last `/feedback`, escaped or not. */
const OfStep = z.strictObject({ id: idOf('run'), '*': z.string() }).transform(({ id, '*': rest }) => {
  const name = StepName.safeParse(rest.slice(0, -SUFFIX.length));
  if (!rest.endsWith(SUFFIX) || !name.success) throw new AppError('not_found', 'there is nothing at this address');
  return { id, stepName: name.data };
});
const described = {
  url: '/runs/:id/steps/:step_name/feedback',
  params: z.strictObject({ id: idOf('run'), step_name: StepName }),
};

/** Marks by people (Orchestration 2.3, 4.2). */
export const feedbackRoutes = ({ feedback }: Pick<Services, 'feedback'>): Route[] => [
  route({
    method: 'POST',
    url: '/runs/:id/feedback',
    role: 'operator',
    id: 'markRun',
    tag: 'feedback',
    summary: 'Mark a run; a second mark overwrites the first',
    params: OfRun,
    body: Mark,
    answers: { 200: RunFeedback },
    refusals: ['not_found'],
    handler: ({ params, body, actor }) => feedback.markRun(params.id, body, actor),
  }),
  route({
    method: 'GET',
    url: '/runs/:id/feedback',
    role: 'viewer',
    id: 'getRunMark',
    tag: 'feedback',
    summary: 'The mark of a run',
    params: OfRun,
    answers: { 200: RunFeedbackLookup },
    refusals: ['not_found'],
    handler: async ({ params }) => ({ feedback: await feedback.ofRun(params.id) }),
  }),
  route({
    method: 'POST',
    url: '/runs/:id/steps/*',
    role: 'operator',
    id: 'markStep',
    tag: 'feedback',
    summary: 'Mark a step; its name may hold a slash',
    params: OfStep,
    body: Mark,
    described,
    answers: { 200: StepFeedback },
    refusals: ['not_found', 'conflict'],
    handler: ({ params, body, actor }) => feedback.markStep(params.id, params.stepName, body, actor),
  }),
  route({
    method: 'GET',
    url: '/runs/:id/steps/*',
    role: 'viewer',
    id: 'getStepMark',
    tag: 'feedback',
    summary: 'The mark of a step; its name may hold a slash',
    params: OfStep,
    described,
    answers: { 200: StepFeedbackLookup },
    refusals: ['not_found'],
    handler: async ({ params }) => ({ feedback: await feedback.ofStep(params.id, params.stepName) }),
  }),
  route({
    method: 'DELETE',
    url: '/runs/:id/feedback',
    role: 'operator',
    id: 'withdrawRunMark',
    tag: 'feedback',
    summary: 'Withdraw the mark of a run; answers the mark that is gone',
    params: OfRun,
    answers: { 200: RunFeedback },
    refusals: ['not_found'],
    handler: ({ params, actor }) => feedback.withdrawRunMark(params.id, actor),
  }),
  route({
    method: 'DELETE',
    url: '/runs/:id/steps/*',
    role: 'operator',
    id: 'withdrawStepMark',
    tag: 'feedback',
    summary: 'Withdraw the mark of a step; its name may hold a slash',
    params: OfStep,
    described,
    answers: { 200: StepFeedback },
    refusals: ['not_found'],
    handler: ({ params, actor }) => feedback.withdrawStepMark(params.id, params.stepName, actor),
  }),
  route({
    method: 'GET',
    url: '/marking',
    role: 'viewer',
    id: 'listUnmarked',
    tag: 'feedback',
    summary: 'Answers of agents without a label, the newest run first',
    query: MarkingQuery,
    answers: { 200: MarkingQueue },
    refusals: ['unavailable'],
    handler: ({ query, request }) => feedback.unmarked(query, request.signal),
  }),
];
