import { setImmediate } from 'node:timers/promises';
import {
  compileMatch,
  contentHash,
  type HeldBy,
  isFitting,
  keepFitting,
  type ResolveMemo,
  type Operator,
  type Problem,
  type ResolvedPipeline,
  type ResolvedSet,
  type SetInput,
  shortProblem,
  type Source,
} from '@signalbox/crds';
import type { Read } from './read-all.ts';
import { shownProblems } from './shown-problems.ts';
import type { LoadedPipeline, Snapshot } from './snapshot.ts';

export interface ResolveOptions {
  operator: Operator;
  /** Kept across calls, so that a reload resolves only what changed. */
  memo: ResolveMemo;
  heldBy?: HeldBy | undefined;
  /** Problems of a valid pipeline that depend on the configuration of this service, which stays as it is; looked for as they are taken. */
  problemsHere?(pipeline: ResolvedPipeline): Iterable<Problem>;
  /** The folder of the configuration file: paths in problems are shown from there. */
  shownFrom?: string;
  now(): number;
}

/** A set of definitions as it is, or as it would be. */
export interface Trial {
  read: Read;
  /** Absent where the agents are not asked about. */
  agentsFor?: SetInput['agentsFor'] | undefined;
}

/** How definitions are resolved: at once at the start, in turns while the service answers. */
export type Resolve = (input: SetInput, memo: ResolveMemo) => Promise<ResolvedSet>;

export const isError = ({ severity }: Problem): boolean => severity === 'error';

/** Resolves the definitions; where a file has errors, once more with its last valid text. */
export async function resolveRead(
  options: ResolveOptions & { resolve: Resolve },
  { read, agentsFor }: Trial,
  lastGood: ReadonlyMap<string, string>,
): Promise<Snapshot> {
  const { resolve, heldBy } = options;
  using _pass = options.memo.pass();
  const { tenancy } = options.operator;
  const operator = tenancy ? { ...options.operator, tenancy: { ...tenancy, home: read.home } } : options.operator;
  const more = { heldBy, ...(agentsFor !== undefined && { agentsFor }) };
  const first = await resolve({ pipelines: read.pipelines, steps: read.steps, operator, ...more }, options.memo);
  const broken = new Set(first.problems.filter(isError).map(({ file }) => file));
  const problems = [...read.problems, ...first.problems, ...(await foundHere(first, { ...options, operator }))];
  if (![...broken].some((file) => lastGood.has(file))) return toSnapshot(first, { read, problems }, options);
  const mended = (sources: Source[]) =>
    sources.map((source) =>
      broken.has(source.file) ? { ...source, text: lastGood.get(source.file) ?? source.text } : source,
    );
  const pipelines = mended(read.pipelines);
  const second = await resolve({ pipelines, steps: mended(read.steps), operator, ...more }, options.memo);
  return toSnapshot(second, { read, problems }, options);
}

/** Problems that are listed of one pipeline. */
const MOST_HERE = 20;

interface FoundHere {
  pipeline: ResolvedPipeline;
  problems: Problem[];
}

/** Looked for once per pipeline object, each in a turn of its own. */
async function foundHere(
  { pipelines }: ResolvedSet,
  { problemsHere, memo, operator }: ResolveOptions,
): Promise<Problem[]> {
  if (!problemsHere) return [];
  const problems: Problem[] = [];
  for (const pipeline of pipelines) {
    const { namespace } = pipeline.standing;
    const room = { memo, key: `here ${pipeline.file}`, namespace, operator };
    let known = memo.find(room.key, (one: FoundHere) => one.pipeline === pipeline && isFitting(one, room));
    if (!known) {
      await setImmediate();
      known = keepFitting({ pipeline, problems: firstOf(problemsHere(pipeline)) }, room);
    }
    problems.push(...known.problems);
  }
  return problems;
}

function firstOf(problems: Iterable<Problem>): Problem[] {
  const found = Iterator.from(problems)
    .take(MOST_HERE + 1)
    .map((problem) => shortProblem(problem))
    .toArray();
  const [over] = found.splice(MOST_HERE);
  return over ? [...found, { ...over, loc: [], msg: 'and more problems of this kind' }] : found;
}

async function toSnapshot(
  set: ResolvedSet,
  { read, problems }: { read: Read; problems: Problem[] },
  { now, memo, shownFrom = '/' }: ResolveOptions,
): Promise<Snapshot> {
  const files = [...read.pipelines, ...read.steps].map(({ file }) => file);
  const pipelines: LoadedPipeline[] = [];
  for (const pipeline of set.pipelines) {
    if (hasNewMatch(pipeline, memo)) await setImmediate();
    pipelines.push({ ...pipeline, match: matcherOf(pipeline, memo), ...admissionOf(pipeline, memo) });
  }
  const hashes = [...pipelines, ...set.steps].map(({ name, hash }) => `${name}:${hash}`);
  return {
    pipelines,
    byName: new Map(pipelines.map((pipeline) => [pipeline.name, pipeline])),
    steps: set.steps,
    stepsByName: new Map(set.steps.map((step) => [step.name, step])),
    problems,
    shown: await shownProblems(problems, files, shownFrom),
    hash: contentHash({ definitions: hashes.sort() }),
    loadedAt: now(),
  };
}

/** What the namespace lets through, compiled once per namespace. */
function admissionOf({ standing }: ResolvedPipeline, memo: ResolveMemo): Pick<LoadedPipeline, 'admission'> {
  const { namespace, tenant } = standing;
  const match = tenant?.match;
  if (match === undefined) return {};
  const { compiled } = memo.recall(`namespace ${namespace}`, isSame(match), () => ({
    match,
    compiled: compileMatch(match),
  }));
  return { admission: compiled };
}

const matchOf = ({ config }: ResolvedPipeline) => config.trigger?.match;
const matchKey = ({ file }: ResolvedPipeline) => `match ${file}`;
const isSame = (match: unknown) => (known: { match: unknown }) => known.match === match;

/** To compile it may take a tenth of a second. */
const hasNewMatch = (pipeline: ResolvedPipeline, memo: ResolveMemo): boolean =>
  matchOf(pipeline) !== undefined && !memo.find(matchKey(pipeline), isSame(matchOf(pipeline)));

/** Compiled once per pipeline object. */
function matcherOf(pipeline: ResolvedPipeline, memo: ResolveMemo): LoadedPipeline['match'] {
  const match = matchOf(pipeline);
  if (match === undefined) return null;
  const make = () => ({ match, compiled: compileMatch(match) });
  return memo.recall(matchKey(pipeline), isSame(match), make).compiled;
}
