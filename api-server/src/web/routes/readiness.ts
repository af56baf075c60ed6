import { AppError, type Pipeline, Readiness } from '@signalbox/crds';
import { z } from 'zod';
import type { ReadinessReport } from '../../analytics/readiness/readiness.ts';
import { notLoaded } from '../../definitions/not-loaded.ts';
import type { LoadedPipeline, Snapshot } from '../../definitions/snapshot.ts';
import type { Preview, PreviewRequest } from '../../service/readiness/preview.ts';
import type { AskedBins } from '../../service/readiness/readiness.ts';
import { unprocessable } from '../errors.ts';
import { count, DefinitionName, StepName } from '../fields.ts';
import { previewView, readinessView } from '../../service/views/readiness.ts';
import { Anything, route, type Route } from '../route.ts';
import { BinWidth } from './step-history.ts';

export interface ReadinessRoutesDeps {
  definitions(): Snapshot;
  /** With evidence gathered now. */
  promotionReadiness(pipeline: Pipeline, asked: AskedBins): Promise<ReadinessReport>;
  previewReadiness(request: PreviewRequest): Promise<Preview>;
}

const ByName = z.strictObject({ name: DefinitionName });
const Bins = z.strictObject({ bin_width: BinWidth.optional(), n_min: count(1, 100_000).optional() });

const MAX_NAMES = 1_000;
const WhatIf = z.strictObject({
  readiness: Readiness,
  /** Names of steps; null for the pipeline. */
  apply_to: z.array(StepName).min(1).max(MAX_NAMES).nullable().default(null),
});

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
  route({
    method: 'POST',
    url: '/pipelines/:name/promotion-readiness/preview',
    role: 'viewer',
    summary: 'What the verdict would be with other criteria, and the YAML that puts them in force; writes nothing',
    params: ByName,
    body: Anything,
    describedBody: WhatIf,
    handler: async ({ params, body }) => {
      const pipeline = loaded(deps, params.name);
      const parsed = WhatIf.safeParse(body);
      if (!parsed.success) throw unprocessable(parsed.error, ['body']);
      const { readiness, apply_to: applyTo } = parsed.data;
      const preview = await deps.previewReadiness({
        pipeline,
        readiness,
        written: (body as { readiness: object }).readiness,
        applyTo,
      });
      if (preview.kind === 'missing') throw noStep(params.name, preview.steps);
      return previewView(preview, applyTo);
    },
  }),
];

const noStep = (pipeline: string, steps: readonly string[]) =>
  new AppError(
    'validation',
    `apply_to: pipeline "${pipeline}" has no step ${steps.map((name) => `"${name}"`).join(', ')}`,
    {
      extra: { errors: steps.map((name) => ({ loc: ['body', 'apply_to'], msg: `there is no step "${name}"` })) },
    },
  );

function loaded({ definitions }: ReadinessRoutesDeps, name: string): LoadedPipeline {
  const pipeline = definitions().byName.get(name);
  if (!pipeline) throw new AppError('not_found', notLoaded(definitions(), 'Pipeline', name));
  return pipeline;
}
