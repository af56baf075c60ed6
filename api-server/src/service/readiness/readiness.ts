import type { Pipeline } from '@signalbox/crds';
import { evaluateReadiness, type ReadinessReport } from '../../analytics/readiness/readiness.ts';
import type { BinRule } from '../../analytics/readiness/tiers.ts';
import { type GatherDeps, gatherEvidence } from './gather.ts';

/** The default rule of the bins. */
export interface BinDefaults {
  nMin: number;
  binWidth: number;
}

export interface AskedBins {
  nMin?: number | undefined;
  binWidth?: number | undefined;
}

export const binRule = (defaults: BinDefaults, asked: AskedBins = {}): BinRule => ({
  binWidth: asked.binWidth ?? defaults.binWidth,
  nMin: asked.nMin ?? null,
  defaultNMin: defaults.nMin,
});

/** Evaluates a pipeline by its own criteria with evidence gathered now (Orchestration 4.4). */
export async function readinessOf(
  deps: GatherDeps & { bins: BinDefaults },
  pipeline: Pipeline,
  asked?: AskedBins,
): Promise<ReadinessReport> {
  return evaluateReadiness(pipeline, await gatherEvidence(deps, pipeline), binRule(deps.bins, asked));
}
