import { AppError } from '@signalbox/crds';
import { z } from 'zod';
import { dividesOne } from '../../analytics/calibration.ts';
import type { History } from '../../analytics/history.ts';
import { bucketView } from '../../service/views/calibration.ts';
import { count, DefinitionName } from '../fields.ts';
import { route, type Route } from '../route.ts';
import { agentVersionView, promptVersionView } from '../../service/views/versions.ts';

export interface StepHistoryRoutesDeps {
  stepHistory: History;
}

const ByName = z.strictObject({ name: DefinitionName });

/** The width of a bin as text of a query. */
export const BinWidth = z
  .string()
  .regex(/^(0?\.\d{1,18}|1(\.0{1,18})?)$/, 'must be a decimal number up to 1')
  .transform(Number)
  .pipe(z.number().min(0.001).max(1).refine(dividesOne, 'must divide 1 evenly'));
const Rule = z.strictObject({ bin_width: BinWidth.optional(), n_min: count(1, 100_000).optional() });

/** What the past of steps and agents says, whether they are still loaded or not (Orchestration 4.4). */
export const stepHistoryRoutes = ({ stepHistory: history }: StepHistoryRoutesDeps): Route[] => [
  route({
    method: 'GET',
    url: '/steps/:name/calibration',
    role: 'viewer',
    summary: 'How often answers of a confidence were right, for each model, prompt and agent version',
    params: ByName,
    query: Rule,
    handler: async ({ params, query, request }) => {
      const { nMin, binWidth } = history.rule;
      const rule = { nMin: query.n_min ?? nMin, binWidth: query.bin_width ?? binWidth };
      const buckets = await history.calibration(params.name, rule, request.signal);
      return { step_name: params.name, buckets: buckets.map(bucketView) };
    },
  }),
  route({
    method: 'GET',
    url: '/steps/:name/versions',
    role: 'viewer',
    summary: 'Every prompt that a step ever used, newest first, with what each changed',
    params: ByName,
    handler: async ({ params, request }) => {
      const versions = await history.promptVersions(params.name, request.signal);
      if (versions === null) throw new AppError('not_found', 'no step of this name has ever run');
      return { step_name: params.name, versions: versions.map(promptVersionView) };
    },
  }),
  route({
    method: 'GET',
    url: '/agents/:name/versions',
    role: 'viewer',
    summary: "Every version of a gateway's agent that a step ever used, newest first, with its texts",
    params: ByName,
    handler: async ({ params, request }) => {
      const versions = await history.agentVersions(params.name, request.signal);
      if (versions.length === 0)
        throw new AppError('not_found', 'no step has ever used an agent of this name of the gateway');
      return { agent: `gateway:${params.name}`, versions: versions.map(agentVersionView) };
    },
  }),
];
