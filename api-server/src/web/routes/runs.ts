import { z } from 'zod';
import { idOf, line } from '../../service/fields.ts';
import { RunsQuery } from '../../service/runs/runs-query.ts';
import type { Services } from '../../service/services.ts';
import { component } from '../../service/views/answer.ts';
import { Comparison } from '../../service/views/comparison.ts';
import { CapacityRefusal } from '../../service/views/delivery.ts';
import { Cancelled, RerunStarted, RunDetail, RunsPage } from '../../service/views/run.ts';
import { withSteps } from '../long-answer.ts';
import { route, type Route } from '../route.ts';

const RerunFrom = component('RerunFrom', z.strictObject({ from_step: line().nullish() }), { from_step: 'investigate' });
const ById = z.strictObject({ id: idOf('run') });

/** Reads, cancels and reruns runs (Orchestration 4.1, 4.2). */
export const runRoutes = ({ runs }: Pick<Services, 'runs'>): Route[] => [
  route({
    method: 'GET',
    url: '/runs',
    role: 'viewer',
    id: 'listRuns',
    tag: 'runs',
    summary: 'Runs, newest first',
    query: RunsQuery,
    answers: { 200: RunsPage },
    handler: ({ query }) => runs.list(query),
  }),
  route({
    method: 'GET',
    url: '/runs/:id',
    role: 'viewer',
    id: 'getRun',
    tag: 'runs',
    summary: 'One run with its steps and marks',
    params: ById,
    query: z.strictObject({ include: z.literal('raw').optional() }),
    answers: { 200: RunDetail },
    refusals: ['not_found', 'unavailable'],
    handler: async ({ params, query, reply }) =>
      withSteps(await runs.get(params.id, { raw: query.include === 'raw' }), reply),
  }),
  route({
    method: 'GET',
    url: '/runs/:a/compare/:b',
    role: 'viewer',
    id: 'compareRuns',
    tag: 'runs',
    summary: 'Two runs of a pipeline, step by step',
    params: z.strictObject({ a: idOf('run'), b: idOf('run') }),
    query: z.strictObject({ force: z.enum(['true', 'false']).optional() }),
    answers: { 200: Comparison },
    refusals: ['not_found', 'conflict', 'unavailable'],
    handler: async ({ params, query, reply }) =>
      withSteps(await runs.compare(params.a, params.b, { force: query.force === 'true' }), reply),
  }),
  route({
    method: 'POST',
    url: '/runs/:id/cancel',
    role: 'operator',
    id: 'cancelRun',
    tag: 'runs',
    summary: 'Cancel a run that has not ended',
    params: ById,
    answers: { 202: Cancelled },
    refusals: ['not_found', 'conflict'],
    handler: ({ params, actor }) => runs.cancel(params.id, actor),
  }),
  route({
    method: 'POST',
    url: '/runs/:id/rerun',
    role: 'operator',
    id: 'rerun',
    tag: 'runs',
    summary: 'Run again with the current definition, from the start or from a top-level step',
    params: ById,
    body: RerunFrom.nullish(),
    answers: { 202: RerunStarted, 429: CapacityRefusal },
    refusals: ['not_found', 'conflict', 'unavailable'],
    handler: ({ params, body, actor }) => runs.rerun(params.id, body?.from_step ?? null, actor),
  }),
  route({
    method: 'GET',
    url: '/runs/:id/artifacts',
    role: 'viewer',
    id: 'getArtifact',
    tag: 'runs',
    summary: 'The text of one artifact',
    params: ById,
    query: z.strictObject({ step: line(512), name: line(512) }),
    answers: { 200: { mediaType: 'text/plain', example: 'kubectl -n shop rollout restart deploy/checkout' } },
    refusals: ['not_found'],
    handler: async ({ params, query, reply }) => {
      const text = await runs.artifact(params.id, query.step, query.name);
      // Text whatever the agent wrote: nothing an agent says is rendered by a browser.
      return reply
        .header('content-type', 'text/plain; charset=utf-8')
        .header('x-content-type-options', 'nosniff')
        .send(text);
    },
  }),
];
