import { basename } from 'node:path';
import type { Pipeline, Readiness } from '@signalbox/crds';
import type { Preview } from '../../analytics/readiness/preview.ts';
import { evaluateReadiness, type ReadinessReport } from '../../analytics/readiness/readiness.ts';
import { subjectOf } from '../../analytics/readiness/steps.ts';
import { snippetOf } from '../../analytics/readiness/snippet.ts';
import { type ApplyTo, withReadiness } from '../../analytics/readiness/with-readiness.ts';
import { cacheEvidence } from './evidence-cache.ts';
import { type GatherDeps, gatherEvidence } from './gather.ts';
import { type BinDefaults, binRule } from './readiness.ts';

export interface PreviewDeps extends GatherDeps {
  bins: BinDefaults;
  /** Whether the controller owns the file of a definition. */
  isManaged(file: string): boolean;
}

export interface PreviewRequest {
  /** The loaded pipeline; `hash` identifies the version. */
  pipeline: { config: Pipeline; hash: string; file: string; text: string };
  readiness: Readiness;
  /** The criteria as sent, without defaults. */
  written: object;
  applyTo: ApplyTo;
}

/** The verdict with other criteria; nothing is written (Orchestration 4.4). */
export function createPreviews(deps: PreviewDeps): (request: PreviewRequest) => Promise<Preview> {
  const remembered = cacheEvidence(deps.now);
  return async ({ pipeline: loaded, readiness, written, applyTo }) => {
    const { config: pipeline, hash, text, file } = loaded;
    const tried = withReadiness(pipeline, readiness, applyTo);
    if (tried.missing.length > 0) return { kind: 'missing', steps: tried.missing };
    const { gathered, hit } = await remembered(`${pipeline.name} ${hash}`, () =>
      gatherEvidence(deps, subjectOf(pipeline)),
    );
    const report = evaluateReadiness(subjectOf(tried.pipeline), gathered, binRule(deps.bins));
    return {
      kind: 'evaluated',
      report,
      appliedTo: applyTo === null ? inheriting(report) : [...applyTo],
      snippet: snippetOf(pipeline, written, applyTo, { text, file: basename(file), managed: deps.isManaged(file) }),
      evidenceGatheredAt: gathered.at,
      cacheHit: hit,
    };
  };
}

const inheriting = ({ steps }: ReadinessReport): string[] =>
  steps
    .filter(({ step }) => Object.values(step.criteria).some(({ source }) => source === 'pipeline'))
    .map(({ step }) => step.name);
