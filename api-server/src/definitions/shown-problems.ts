import { basename, dirname, join, relative } from 'node:path';
import type { Problem } from '@signalbox/crds';

/** Problems as people and programs outside read them: with short paths of files, which say nothing of the machine. */
export function shownProblems(problems: readonly Problem[], files: readonly string[], folder: string): Problem[] {
  if (problems.length === 0) return [];
  const short = new Map([...files, ...problems.map(({ file }) => file)].map((file) => [file, shortPath(file, folder)]));
  // Longest first: a path may be the beginning of another.
  const known = [...short].toSorted(([a], [b]) => b.length - a.length);
  const shorten = (text: string) =>
    text.includes('/') ? known.reduce((said, [file, shown]) => said.replaceAll(file, shown), text) : text;
  return problems.map((problem) => ({
    ...problem,
    file: short.get(problem.file) ?? problem.file,
    msg: shorten(problem.msg),
  }));
}

/** From the folder of the configuration file; of a file elsewhere its own folder and name. */
function shortPath(file: string, folder: string): string {
  const path = relative(folder, file);
  return path.startsWith('..') ? join(basename(dirname(file)), basename(file)) : path;
}
