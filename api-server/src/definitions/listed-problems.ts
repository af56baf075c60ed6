import type { Problem } from '@signalbox/crds';

/** Problems of one file that are listed where those of all are: a file may have hundreds, and the list is read every few seconds. */
const MOST_OF_FILE = 20;

interface Listed {
  errors: Problem[];
  warnings: Problem[];
}

/** Errors and warnings, the first of each file, and how many more it has. */
export function listedProblems(problems: readonly Problem[]): Listed {
  const { error = [], warning = [] } = Object.groupBy(problems, ({ severity }) => severity);
  return { errors: firstOfFiles(error), warnings: firstOfFiles(warning) };
}

const firstOfFiles = (problems: readonly Problem[]): Problem[] =>
  [...Map.groupBy(problems, ({ file }) => file).values()].flatMap((ofFile) => {
    const rest = ofFile.slice(MOST_OF_FILE);
    const [next] = rest;
    if (next === undefined) return ofFile;
    const { line: _line, col: _col, ...more } = next;
    return [
      ...ofFile.slice(0, MOST_OF_FILE),
      { ...more, loc: [], msg: `and ${rest.length} more problems of this file` },
    ];
  });
