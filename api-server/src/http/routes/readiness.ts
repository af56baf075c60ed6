import { AppError, type Pipeline } from '@signalbox/crds';
import { z } from 'zod';
import type { ReadinessReport } from '../../analytics/readiness.ts';
import { notLoaded } from '../../definitions/not-loaded.ts';
import type { LoadedPipeline, Snapshot } from '../../definitions/snapshot.ts';
import type { AskedBins } from '../../readiness/readiness.ts';
import { count, DefinitionName } from '../fields.ts';
import { readinessView } from '../readiness-view.ts';
import { route, type Route } from '../route.ts';
import { BinWidth } from './step-history.ts';

export interface ReadinessRoutesDeps {
  definitions(): Snapshot;
  /** With evidence gathered now. */
  promotionReadiness(pipeline: Pipeline, asked: AskedBins): Promise<ReadinessReport>;
}

const ByName = z.strictObject({ name: DefinitionName });
const Bins = z.strictObject({ bin_width: BinWidth.optional(), n_min: count(1, 100_000).optional() });

/** Whether a pipeline may leave `testing`, and what if more were asked of it (Orchestration 4.4). */
export const readinessRoutes = (deps: ReadinessRoutesDeps): Route[] => [
  route({
    method: 'GET',
    url: '/pipelines/:name/promotion-readiness',
    role: 'viewer',
    summary: 'Whether the evidence of a pipeline meets its readiness criteria, step by step',
    params: ByName,
    query: Bins,
    handler: async ({ params, query }) => {
      const { config } = loaded(deps, params.name);
      return readinessView(await deps.promotionReadiness(config, { binWidth: query.bin_width, nMin: query.n_min }));
    },
  }),
];

function loaded({ definitions }: ReadinessRoutesDeps, name: string): LoadedPipeline {
  const pipeline = definitions().byName.get(name);
  if (!pipeline) throw new AppError('not_found', notLoaded(definitions(), 'Pipeline', name));
  return pipeline;
}
