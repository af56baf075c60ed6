import { z } from 'zod';
import { DefinitionName } from '../../service/fields.ts';
import type { Services } from '../../service/services.ts';
import { OnePipelineParams, StatisticsParams } from '../../service/statistics/statistics-query.ts';
import {
  PipelineStatistics,
  PipelineStatisticsList,
  StepModels,
  StepStatistics,
  TeamsUse,
} from '../../service/views/analytics/statistics.ts';
import { route, type Route } from '../route.ts';

const ByName = z.strictObject({ name: DefinitionName });
/** Statistics of pipelines and steps (Orchestration 2.9, 4.4). */
export const statisticsRoutes = (deps: Pick<Services, 'statistics'>): Route[] => [
  route({
    method: 'GET',
    url: '/pipelines/:name/stats',
    role: 'viewer',
    id: 'getPipelineStatistics',
    tag: 'statistics',
    summary: 'Runs, success, tokens, cost, durations, accuracy and teams of one pipeline',
    params: ByName,
    query: OnePipelineParams,
    answers: { 200: PipelineStatistics },
    refusals: ['not_found', 'unavailable'],
    handler: ({ params, query, request }) => deps.statistics.pipeline(params.name, query, request.signal),
  }),
  route({
    method: 'GET',
    url: '/stats/pipelines',
    role: 'viewer',
    id: 'listPipelineStatistics',
    tag: 'statistics',
    summary: 'The same of every pipeline with a run in the time range',
    query: StatisticsParams,
    answers: { 200: PipelineStatisticsList },
    refusals: ['unavailable'],
    handler: async ({ query, request }) => ({ pipelines: await deps.statistics.pipelines(query, request.signal) }),
  }),
  route({
    method: 'GET',
    url: '/steps/:name/stats',
    role: 'viewer',
    id: 'getStepStatistics',
    tag: 'statistics',
    summary: 'Executions, success, tokens, cost, durations and accuracy of one step in all pipelines',
    params: ByName,
    query: StatisticsParams,
    answers: { 200: StepStatistics },
    refusals: ['not_found', 'unavailable'],
    handler: ({ params, query, request }) => deps.statistics.step(params.name, query, request.signal),
  }),
  route({
    method: 'GET',
    url: '/steps/:name/models',
    role: 'viewer',
    id: 'getStepModels',
    tag: 'statistics',
    summary: 'The executions of one step by agent and model, the busiest first',
    params: ByName,
    query: StatisticsParams,
    answers: { 200: StepModels },
    refusals: ['not_found', 'unavailable'],
    handler: async ({ params, query, request }) => ({
      step_name: params.name,
      breakdown: await deps.statistics.stepModels(params.name, query, request.signal),
    }),
  }),
  route({
    method: 'GET',
    url: '/teams',
    role: 'viewer',
    id: 'listTeams',
    tag: 'statistics',
    summary: 'What each team used in this calendar month (UTC), and how much of its budget that is',
    answers: { 200: TeamsUse },
    refusals: ['unavailable'],
    handler: ({ request }) => deps.statistics.teams(request.signal),
  }),
];
