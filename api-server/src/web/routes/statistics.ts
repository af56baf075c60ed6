import { z } from 'zod';
import { TIME_RANGES } from '../../analytics/window.ts';
import { STAGES } from '../../runs/state/model.ts';
import type { Statistics } from '../../analytics/statistics.ts';
import { DefinitionName } from '../fields.ts';
import { route, type Route } from '../route.ts';

export interface StatisticsRoutesDeps {
  statistics: Statistics;
}

const ByName = z.strictObject({ name: DefinitionName });
/** What statistics look at; pages read their address with the same schema. */
export const StatisticsParams = z
  .strictObject({
    time_range: z.enum(TIME_RANGES).default('7d'),
    stage: z.enum([...STAGES, 'all']).default('production'),
  })
  .transform(({ time_range, stage }) => ({ timeRange: time_range, stage }));

/** Statistics of pipelines and steps (Orchestration 2.9, 4.4). */
export const statisticsRoutes = (deps: StatisticsRoutesDeps): Route[] => [
  route({
    method: 'GET',
    url: '/pipelines/:name/stats',
    role: 'viewer',
    summary: 'Runs, success, tokens, cost, durations, accuracy and teams of one pipeline',
    params: ByName,
    query: StatisticsParams,
    handler: ({ params, query, request }) => deps.statistics.pipeline(params.name, query, request.signal),
  }),
  route({
    method: 'GET',
    url: '/stats/pipelines',
    role: 'viewer',
    summary: 'The same of every pipeline with a run in the time range',
    query: StatisticsParams,
    handler: async ({ query, request }) => ({ pipelines: await deps.statistics.pipelines(query, request.signal) }),
  }),
  route({
    method: 'GET',
    url: '/steps/:name/stats',
    role: 'viewer',
    summary: 'Executions, success, tokens, cost, durations and accuracy of one step in all pipelines',
    params: ByName,
    query: StatisticsParams,
    handler: ({ params, query, request }) => deps.statistics.step(params.name, query, request.signal),
  }),
  route({
    method: 'GET',
    url: '/steps/:name/models',
    role: 'viewer',
    summary: 'The executions of one step by agent and model, the busiest first',
    params: ByName,
    query: StatisticsParams,
    handler: async ({ params, query, request }) => ({
      step_name: params.name,
      breakdown: await deps.statistics.stepModels(params.name, query, request.signal),
    }),
  }),
];
