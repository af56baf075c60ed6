import type { Problem } from '@signalbox/crds';

/** Problems of one file that are listed where those of all are: a file may have hundreds, and the list is read every few seconds. */
const MOST_OF_FILE = 20;
/** Those of all files. */
const MOST = 2_000;

interface Listed {
  errors: Problem[];
  warnings: Problem[];
}

/** Errors and warnings, the first of each file, and how many more there are; where all are too many, errors before warnings. */
export function listedProblems(problems: readonly Problem[]): Listed {
  const { error = [], warning = [] } = Object.groupBy(problems, ({ severity }) => severity);
  const errors = firstOfAll(error, MOST);
  return { errors, warnings: firstOfAll(warning, Math.max(0, MOST - errors.length)) };
}

/** The first of every file comes before the second of any. */
function firstOfAll(problems: readonly Problem[], most: number): Problem[] {
  const files = [...Map.groupBy(problems, ({ file }) => file).values()].map(firstOfFile);
  const listed = files.flat();
  if (listed.length <= most) return listed;
  const ranked = files.flatMap((ofFile) => ofFile.map((problem, at) => ({ problem, at })));
  const first = ranked.toSorted((a, b) => a.at - b.at).slice(0, most);
  const kept = new Set(first.map(({ problem }) => problem));
  const left = listed.filter((problem) => !kept.has(problem));
  return [...listed.filter((problem) => kept.has(problem)), ...left.slice(0, 1).map((next) => more(next, left.length))];
}

/** Of no definition: who reads which ones have errors does not take it for theirs. */
const more = (next: Problem, count: number): Problem => ({
  ...saying(next, `and ${count} more problems of this and other files`),
  kind: null,
  name: null,
});

function saying({ line: _line, col: _col, ...about }: Problem, msg: string): Problem {
  return { ...about, loc: [], msg };
}

function firstOfFile(ofFile: readonly Problem[]): Problem[] {
  const rest = ofFile.slice(MOST_OF_FILE);
  const [next] = rest;
  // The last one may say how many more of its definition there are.
  if (next === undefined || rest.length === 1) return [...ofFile];
  return [...ofFile.slice(0, MOST_OF_FILE), saying(next, `and ${rest.length} more problems of this file`)];
}
