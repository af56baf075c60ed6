import { join } from 'node:path';
import { compileMatch, contentHash, resolveSet, type Operator, type Problem, type ResolvedSet, type Source } from '@signalbox/crds';
import { readFolder, type Folder } from './read-folder.ts';
import type { LoadedPipeline, Snapshot } from './snapshot.ts';
import { notificationProblems } from '../notify/check.ts';
import { unsupported } from './unsupported.ts';

export interface RegistryOptions {
  pipelineDir: string | null;
  stepDir: string | null;
  /** Files that `controller sync` owns; a name in both is served from here (Design 7). */
  managedDir: string | null;
  operator: Operator;
  now(): number;
}

export interface Registry {
  current(): Snapshot;
  /** Reads everything again; a definition that broke stays as it last loaded (Design 8). Reloads never overlap. */
  reload(): Promise<Snapshot>;
}

/** Reads the definition folders and keeps the result as one snapshot that is replaced as a whole. */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  const lastGood = new Map<string, string>();
  const load = async () => {
    const read = await readAll(options);
    const snapshot = resolve(options, read, lastGood);
    remember(snapshot, read, lastGood);
    return snapshot;
  };
  let current = await load();
  let turn: Promise<unknown> = Promise.resolve();
  return {
    current: () => current,
    reload: () => {
      const next = turn.then(load).then((snapshot) => (current = snapshot));
      turn = next.catch(() => undefined);
      return next;
    },
  };
}

interface Read {
  pipelines: Source[];
  steps: Source[];
  problems: Problem[];
}

async function readAll({ pipelineDir, stepDir, managedDir }: RegistryOptions): Promise<Read> {
  const managed = (folder: string) => (managedDir === null ? null : join(managedDir, folder));
  const [managedPipelines, pipelines, managedSteps, steps] = await Promise.all([
    readFolder('Pipeline', managed('pipelines')),
    readFolder('Pipeline', pipelineDir),
    readFolder('LibraryStep', managed('steps')),
    readFolder('LibraryStep', stepDir),
  ]);
  const folders: Folder[] = [managedPipelines, pipelines, managedSteps, steps];
  return {
    pipelines: [...managedPipelines.sources, ...pipelines.sources],
    steps: [...managedSteps.sources, ...steps.sources],
    problems: folders.flatMap(({ problems }) => problems),
  };
}

const isError = ({ severity }: Problem): boolean => severity === 'error';

/** Resolves what is there; where a file broke, once more with its last good text. */
function resolve(options: RegistryOptions, read: Read, lastGood: ReadonlyMap<string, string>): Snapshot {
  const first = runnable(resolveSet({ pipelines: read.pipelines, steps: read.steps, operator: options.operator }));
  const broken = new Set(first.problems.filter(isError).map(({ file }) => file));
  const problems = [...read.problems, ...first.problems];
  if (![...broken].some((file) => lastGood.has(file))) return toSnapshot(first, problems, options);
  const mended = (sources: Source[]) =>
    sources.map((source) => (broken.has(source.file) ? { ...source, text: lastGood.get(source.file) ?? source.text } : source));
  const second = runnable(resolveSet({ pipelines: mended(read.pipelines), steps: mended(read.steps), operator: options.operator }));
  return toSnapshot(second, problems, options);
}

/** Takes out what this version cannot run, as load errors. */
function runnable(set: ResolvedSet): ResolvedSet {
  const refused = set.pipelines.flatMap(unsupported);
  const files = new Set(refused.map(({ file }) => file));
  return { ...set, pipelines: set.pipelines.filter(({ file }) => !files.has(file)), problems: [...set.problems, ...refused, ...set.pipelines.flatMap(notificationProblems)] };
}

function toSnapshot(set: ResolvedSet, problems: Problem[], { now }: RegistryOptions): Snapshot {
  const pipelines = set.pipelines.map(
    (pipeline): LoadedPipeline => ({
      ...pipeline,
      match: pipeline.config.trigger?.match === undefined ? null : compileMatch(pipeline.config.trigger.match),
    }),
  );
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

function remember({ problems }: Snapshot, read: Read, lastGood: Map<string, string>): void {
  const broken = new Set(problems.filter(isError).map(({ file }) => file));
  const present = new Set([...read.pipelines, ...read.steps].map(({ file }) => file));
  for (const file of lastGood.keys()) if (!present.has(file)) lastGood.delete(file);
  for (const { file, text } of [...read.pipelines, ...read.steps]) if (!broken.has(file)) lastGood.set(file, text);
}
