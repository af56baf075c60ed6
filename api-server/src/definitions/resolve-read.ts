import {
  compileMatch,
  contentHash,
  resolveSet,
  type Operator,
  type Problem,
  type ResolvedSet,
  type Source,
} from '@signalbox/crds';
import type { Read } from './read-all.ts';
import type { LoadedPipeline, Snapshot } from './snapshot.ts';
import { notificationProblems } from '../notify/check.ts';
import { unsupported } from './unsupported.ts';

export interface ResolveOptions {
  operator: Operator;
  now(): number;
}

export const isError = ({ severity }: Problem): boolean => severity === 'error';

/** Resolves what is there; where a file broke, once more with its last good text (Design 8). */
export function resolveRead(options: ResolveOptions, read: Read, lastGood: ReadonlyMap<string, string>): Snapshot {
  const first = runnable(resolveSet({ pipelines: read.pipelines, steps: read.steps, operator: options.operator }));
  const broken = new Set(first.problems.filter(isError).map(({ file }) => file));
  const problems = [...read.problems, ...first.problems];
  if (![...broken].some((file) => lastGood.has(file))) return toSnapshot(first, problems, options);
  const mended = (sources: Source[]) =>
    sources.map((source) =>
      broken.has(source.file) ? { ...source, text: lastGood.get(source.file) ?? source.text } : source,
    );
  const second = runnable(
    resolveSet({ pipelines: mended(read.pipelines), steps: mended(read.steps), operator: options.operator }),
  );
  return toSnapshot(second, problems, options);
}

/** Takes out what this version cannot run, as load errors. */
function runnable(set: ResolvedSet): ResolvedSet {
  const refused = set.pipelines.flatMap(unsupported);
  const files = new Set(refused.map(({ file }) => file));
  return {
    ...set,
    pipelines: set.pipelines.filter(({ file }) => !files.has(file)),
    problems: [...set.problems, ...refused, ...set.pipelines.flatMap(notificationProblems)],
  };
}

function toSnapshot(set: ResolvedSet, problems: Problem[], { now }: ResolveOptions): Snapshot {
  const pipelines = set.pipelines.map((pipeline): LoadedPipeline => ({
    ...pipeline,
    match: pipeline.config.trigger?.match === undefined ? null : compileMatch(pipeline.config.trigger.match),
  }));
  const hashes = [...pipelines, ...set.steps].map(({ name, hash }) => `${name}:${hash}`);
  return {
    pipelines,
    byName: new Map(pipelines.map((pipeline) => [pipeline.name, pipeline])),
    steps: set.steps,
    stepsByName: new Map(set.steps.map((step) => [step.name, step])),
    problems,
    hash: contentHash({ definitions: hashes.sort() }),
    loadedAt: now(),
  };
}
