/** One fault that a test has to notice. */
export interface Mutant {
  area: string;
  /** What goes wrong for a user. */
  what: string;
  file: string;
  /** Text that occurs once in the file, and what takes its place. */
  find: string;
  put: string;
  /** The test file that has to turn red. */
  tests: string;
}

type Change = readonly [what: string, find: string, put: string];

/** Mutants of one file that one test file has to notice. */
export const mutantsOf = (area: string, file: string, tests: string, ...changes: Change[]): Mutant[] =>
  changes.map(([what, find, put]) => ({ area, what, file, find, put, tests }));
