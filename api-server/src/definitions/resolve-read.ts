import {
  compileMatch,
  contentHash,
  resolveSet,
  type ResolveMemo,
  type Operator,
  type Problem,
  type ResolvedPipeline,
  type ResolvedSet,
  type Source,
} from '@signalbox/crds';
import type { NotificationsBlock } from '../config/notifications-schema.ts';
import type { Read } from './read-all.ts';
import { shownProblems } from './shown-problems.ts';
import type { LoadedPipeline, Snapshot } from './snapshot.ts';
import { notificationProblems } from '../notify/check.ts';

export interface ResolveOptions {
  operator: Operator;
  /** Kept across calls, so that a reload resolves only what changed. */
  memo: ResolveMemo;
  /** Whether models can have prices; without prices `max_cost` has no effect. */
  priced?: boolean;
  /** The channel settings of the service configuration. */
  notifications?: NotificationsBlock;
  /** The folder of the configuration file: paths in problems are shown from there. */
  shownFrom?: string;
  now(): number;
}

export const isError = ({ severity }: Problem): boolean => severity === 'error';

/** Resolves the definitions; where a file has errors, once more with its last valid text. */
export function resolveRead(options: ResolveOptions, read: Read, lastGood: ReadonlyMap<string, string>): Snapshot {
  const { tenancy } = options.operator;
  const operator = tenancy ? { ...options.operator, tenancy: { ...tenancy, home: read.home } } : options.operator;
  const first = checked(resolveSet({ pipelines: read.pipelines, steps: read.steps, operator }, options.memo), options);
  const broken = new Set(first.problems.filter(isError).map(({ file }) => file));
  const problems = [...read.problems, ...first.problems];
  if (![...broken].some((file) => lastGood.has(file))) return toSnapshot(first, { read, problems }, options);
  const mended = (sources: Source[]) =>
    sources.map((source) =>
      broken.has(source.file) ? { ...source, text: lastGood.get(source.file) ?? source.text } : source,
    );
  const second = checked(
    resolveSet({ pipelines: mended(read.pipelines), steps: mended(read.steps), operator }, options.memo),
    options,
  );
  return toSnapshot(second, { read, problems }, options);
}

/** Adds the problems that depend on the configuration of this service. */
function checked(set: ResolvedSet, { priced, notifications }: ResolveOptions): ResolvedSet {
  const found = set.pipelines.flatMap((pipeline) => [
    ...notificationProblems(pipeline, notifications),
    ...(priced ? [] : unpricedBudget(pipeline)),
  ]);
  return { ...set, problems: [...set.problems, ...found] };
}

function unpricedBudget({ name, file, config }: ResolvedPipeline): Problem[] {
  if (config.budget?.max_cost === undefined) return [];
  const msg = 'max_cost has no effect: the service has no pricing.models';
  return [{ severity: 'warning', kind: 'Pipeline', name, file, loc: ['budget', 'max_cost'], msg, reason: 'invalid' }];
}

function toSnapshot(
  set: ResolvedSet,
  { read, problems }: { read: Read; problems: Problem[] },
  { now, memo, shownFrom = '/' }: ResolveOptions,
): Snapshot {
  const files = [...read.pipelines, ...read.steps].map(({ file }) => file);
  const pipelines = set.pipelines.map((pipeline): LoadedPipeline => ({
    ...pipeline,
    match: matcherOf(pipeline, memo),
    ...admissionOf(pipeline, memo),
  }));
  const hashes = [...pipelines, ...set.steps].map(({ name, hash }) => `${name}:${hash}`);
  return {
    pipelines,
    byName: new Map(pipelines.map((pipeline) => [pipeline.name, pipeline])),
    steps: set.steps,
    stepsByName: new Map(set.steps.map((step) => [step.name, step])),
    problems,
    shown: shownProblems(problems, files, shownFrom),
    hash: contentHash({ definitions: hashes.sort() }),
    loadedAt: now(),
  };
}

/** What the namespace lets through, compiled once per namespace. */
function admissionOf({ standing }: ResolvedPipeline, memo: ResolveMemo): Pick<LoadedPipeline, 'admits'> {
  const { namespace, admitted, tenant } = standing;
  if (!admitted) return { admits: () => false };
  const match = tenant?.match;
  if (match === undefined) return {};
  const isCurrent = (known: { match: unknown }) => known.match === match;
  const { compiled } = memo.recall(`namespace ${namespace}`, isCurrent, () => ({
    match,
    compiled: compileMatch(match),
  }));
  return { admits: compiled.matches };
}

/** Compiled once per pipeline object. */
function matcherOf({ file, config }: ResolvedPipeline, memo: ResolveMemo): LoadedPipeline['match'] {
  const match = config.trigger?.match;
  if (match === undefined) return null;
  const isCurrent = (known: { match: unknown }) => known.match === match;
  return memo.recall(`match ${file}`, isCurrent, () => ({ match, compiled: compileMatch(match) })).compiled;
}
