import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Problem, Source } from '@signalbox/crds';
import { readNamespaces } from './namespaces.ts';
import { type KnownTexts, readFolder } from './read-folder.ts';

export interface Folders {
  pipelineDir: string | null;
  stepDir: string | null;
  /** Files that `controller sync` owns. */
  managedDir: string | null;
}

/**
 * The current content of all folders; of two with one name the lower precedence wins: objects of the release's namespace, then the
 * operator's files, then objects of others, whose name must not reach what the operator's definitions name.
 */
export interface Read {
  pipelines: Source[];
  steps: Source[];
  problems: Problem[];
  /** The namespace of the release; null where no controller says it. */
  home: string | null;
}

const MANAGED = 0;
const EDITABLE = 1;
const MANAGED_OF_OTHERS = 2;

export const isManaged = ({ precedence }: Source): boolean => precedence !== EDITABLE;

/** Reads all definition files. Rejects where a folder cannot be listed; subfolders of the managed folder may be missing. */
export async function readAll({ pipelineDir, stepDir, managedDir }: Folders, known?: KnownTexts): Promise<Read> {
  const inManaged = managedDir === null ? [] : await readdir(managedDir);
  const managed = (folder: string) =>
    managedDir !== null && inManaged.includes(folder) ? join(managedDir, folder) : null;
  const of = async (kind: 'Pipeline' | 'LibraryStep', folder: string | null, precedence: number) => {
    const { sources, problems } = await readFolder(kind, folder, known);
    return { sources: sources.map((source): Source => ({ ...source, precedence })), problems };
  };
  const [managedPipelines, pipelines, managedSteps, steps] = await Promise.all([
    of('Pipeline', managed('pipelines'), MANAGED),
    of('Pipeline', pipelineDir, EDITABLE),
    of('LibraryStep', managed('steps'), MANAGED),
    of('LibraryStep', stepDir, EDITABLE),
  ]);
  // After the files: the manifest names a file before it is written, so a file that was read is in it.
  const namespaces = await readNamespaces(managedDir);
  const placed = (source: Source): Source => {
    const namespace = namespaces.of(source.file);
    if (namespace === undefined) return source;
    const { home } = namespaces;
    const isHome = home === null || namespace === home;
    return { ...source, namespace, precedence: isHome ? MANAGED : MANAGED_OF_OTHERS };
  };
  return {
    home: namespaces.home,
    pipelines: [...managedPipelines.sources.map(placed), ...pipelines.sources],
    steps: [...managedSteps.sources.map(placed), ...steps.sources],
    problems: [managedPipelines, pipelines, managedSteps, steps].flatMap(({ problems }) => problems),
  };
}

/** Whether two reads returned the same files with the same text, of the same namespaces. */
export function sameRead(a: Read, b: Read): boolean {
  const same = (one: readonly Source[], other: readonly Source[]) => {
    const known = new Map(other.map((source) => [source.file, source]));
    return (
      one.length === other.length &&
      one.every(({ file, text, namespace }) => {
        const same = known.get(file);
        return same?.text === text && same.namespace === namespace;
      })
    );
  };
  const problemsOf = ({ problems }: Read) => JSON.stringify(problems);
  return (
    a.home === b.home && same(a.pipelines, b.pipelines) && same(a.steps, b.steps) && problemsOf(a) === problemsOf(b)
  );
}
