import { AppError, type Pipeline, Readiness } from '@signalbox/crds';
import { z } from 'zod';
import type { ReadinessReport as Report } from '../../analytics/readiness/readiness.ts';
import type { LoadedPipeline } from '../../definitions/snapshot.ts';
import { count, StepName } from '../fields.ts';
import { BinWidth } from '../history/bin-width.ts';
import { component } from '../views/answer.ts';
import {
  previewView,
  type ReadinessPreview,
  type ReadinessReport,
  readinessView,
} from '../views/analytics/readiness.ts';
import type { PreviewRequest } from './preview.ts';
import type { Preview } from '../../analytics/readiness/preview.ts';
import type { AskedBins } from './readiness.ts';

export const BinsQuery = z.strictObject({ bin_width: BinWidth.optional(), n_min: count(1, 100_000).optional() });

const MAX_NAMES = 1_000;
export const WhatIf = component(
  'WhatIf',
  z.strictObject({
    readiness: Readiness,
    /** Names of steps; null for the pipeline. */
    apply_to: z.array(StepName).min(1).max(MAX_NAMES).nullable().default(null),
  }),
  { readiness: { accuracy: { min_marked: 20 } }, apply_to: ['investigate'] },
);

export interface EvaluationsDeps {
  /** Throws `not_found`. */
  pipeline(name: string): LoadedPipeline;
  /** With evidence gathered now. */
  evaluate(pipeline: Pipeline, asked: AskedBins): Promise<Report>;
  preview(request: PreviewRequest): Promise<Preview>;
}

/** The readiness verdict, and a preview with other criteria (Orchestration 4.4). Both throw `not_found`. */
export interface Evaluations {
  evaluate(name: string, asked: z.output<typeof BinsQuery>): Promise<ReadinessReport>;
  /** `written` is the criteria as sent, without defaults. Throws `validation` for an unknown step. */
  preview(name: string, asked: z.output<typeof WhatIf>, written: object): Promise<ReadinessPreview>;
}

export const createEvaluations = ({ pipeline, evaluate, preview }: EvaluationsDeps): Evaluations => ({
  evaluate: async (name, { bin_width: binWidth, n_min: nMin }) =>
    readinessView(await evaluate(pipeline(name).config, { binWidth, nMin })),
  preview: async (name, { readiness, apply_to: named }, written) => {
    const applyTo = named && [...new Set(named)];
    const tried = await preview({ pipeline: pipeline(name), readiness, written, applyTo });
    if (tried.kind === 'missing') throw noStep(name, tried.steps);
    return previewView(tried, applyTo);
  },
});

const noStep = (pipeline: string, steps: readonly string[]) =>
  new AppError(
    'validation',
    `apply_to: pipeline "${pipeline}" has no step ${steps.map((name) => `"${name}"`).join(', ')}`,
    { extra: { errors: steps.map((name) => ({ loc: ['body', 'apply_to'], msg: `unknown step "${name}"` })) } },
  );
