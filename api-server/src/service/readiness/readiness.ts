import type { Pipeline } from '@signalbox/crds';
import type { ReadinessReport } from '../../analytics/readiness/readiness.ts';
import { subjectOf } from '../../analytics/readiness/steps.ts';
import type { BinRule } from '../../analytics/readiness/tiers.ts';
import type { Database } from '../../store/db/database.ts';
import type { AskedReadiness } from './readiness-answers.ts';
import type { GatherDeps } from './gather.ts';

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

export interface ReadinessDeps extends Omit<GatherDeps, 'readEvidence'> {
  database: Pick<Database, 'ask'>;
  bins: BinDefaults;
}

const ANSWERS = new URL('./readiness-answers.ts', import.meta.url);
/** A long history is read for less than a second. */
const ASKED_MS = 30_000;

/** Evaluates a pipeline by its own criteria with evidence gathered now (Orchestration 4.4). */
export async function readinessOf(
  { database, agentVersions, bins, now }: ReadinessDeps,
  pipeline: Pipeline,
  asked?: AskedBins,
): Promise<ReadinessReport> {
  const versions = await agentVersions();
  const input: AskedReadiness = { subject: subjectOf(pipeline), versions, bins: binRule(bins, asked), now: now() };
  return database.ask(ANSWERS, input, AbortSignal.timeout(ASKED_MS)) as Promise<ReadinessReport>;
}
