import { basename, dirname, join, relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Problem } from '@signalbox/crds';

/** Problems in one turn of the event loop. */
const A_TURN = 500;

/** Problems as people and programs outside read them: with short paths of files, which say nothing of the machine. */
export async function shownProblems(
  problems: readonly Problem[],
  files: readonly string[],
  folder: string,
): Promise<Problem[]> {
  if (problems.length === 0) return [];
  const short = new Map([...files, ...problems.map(({ file }) => file)].map((file) => [file, shortPath(file, folder)]));
  const all: Problem[] = [];
  for (const { file, msg, ...problem } of problems) {
    if (all.length % A_TURN === A_TURN - 1) await setImmediate();
    const shown = short.get(file) ?? file;
    all.push({ ...problem, file: shown, msg: withShortEnd(msg, short).replaceAll(file, shown) });
  }
  return all;
}

/** A message names its own file, or ends with another. To look for each of thousands of files in every message takes seconds. */
function withShortEnd(msg: string, short: ReadonlyMap<string, string>): string {
  const at = msg.indexOf('/');
  const shown = at === -1 ? undefined : short.get(msg.slice(at));
  return shown === undefined ? msg : msg.slice(0, at) + shown;
}

/** From the folder of the configuration file; of a file elsewhere its own folder and name. */
function shortPath(file: string, folder: string): string {
  const path = relative(folder, file);
  return path.startsWith('..') ? join(basename(dirname(file)), basename(file)) : path;
}
