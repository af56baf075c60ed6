import { z } from 'zod';
import { DefinitionName } from '../../service/fields.ts';
import { BinsQuery } from '../../service/readiness/evaluations.ts';
import type { Services } from '../../service/services.ts';
import { StepCalibration } from '../../service/views/analytics/calibration.ts';
import { AgentVersions, StepVersions } from '../../service/views/analytics/versions.ts';
import { route, type Route } from '../route.ts';

/** Without it all pipelines together. */
const InPipeline = { pipeline: DefinitionName.optional() };
const ByName = z.strictObject({ name: DefinitionName });

/** History of steps and agents, also of those that are no longer loaded (Orchestration 4.4). */
export const stepHistoryRoutes = ({ history }: Pick<Services, 'history'>): Route[] => [
  route({
    method: 'GET',
    url: '/steps/:name/calibration',
    role: 'viewer',
    id: 'getStepCalibration',
    tag: 'history',
    summary: 'How often answers of a confidence were right, for each model, prompt and agent version',
    params: ByName,
    query: BinsQuery.extend(InPipeline),
    answers: { 200: StepCalibration },
    refusals: ['unavailable'],
    handler: async ({ params, query, request }) => ({
      step_name: params.name,
      buckets: await history.calibration(params.name, query, request.signal),
    }),
  }),
  route({
    method: 'GET',
    url: '/steps/:name/versions',
    role: 'viewer',
    id: 'getStepVersions',
    tag: 'history',
    summary: 'Every prompt that a step ever used, newest first, with what each changed',
    params: ByName,
    query: z.strictObject(InPipeline),
    answers: { 200: StepVersions },
    refusals: ['not_found', 'unavailable'],
    handler: async ({ params, query, request }) => ({
      step_name: params.name,
      versions: (await (await history.step(params.name, request.signal)).of(query.pipeline)).versions,
    }),
  }),
  route({
    method: 'GET',
    url: '/agents/:name/versions',
    role: 'viewer',
    id: 'getAgentVersions',
    tag: 'history',
    summary: "Every version of a gateway's agent that a step ever used, newest first, with its texts",
    params: ByName,
    answers: { 200: AgentVersions },
    refusals: ['not_found', 'unavailable'],
    handler: async ({ params, request }) => ({
      agent: `gateway:${params.name}`,
      versions: await history.agentVersions(params.name, request.signal),
    }),
  }),
];
