import { cutShort } from './start-of.ts';

/** A location in a definition: keys and list indexes from the root of the body. */
export type Loc = (string | number)[];

export type DefinitionKind = 'Pipeline' | 'LibraryStep' | 'Agent';

/**
 * Why a definition is refused or warned about; `shell_not_allowed` is a separate reason because the write API refuses
 * what the loader only warns about (Orchestration 4.5).
 */
export type ProblemReason =
  | 'invalid'
  | 'syntax'
  | 'too_large'
  | 'missing_step'
  | 'missing_pipeline'
  | 'unknown_agent'
  | 'unknown_provider'
  | 'unknown_server'
  | 'name_conflict'
  | 'cycle'
  | 'too_deep'
  | 'shell_not_allowed'
  | 'env_not_allowed'
  | 'not_allowed'
  | 'no_effect'
  | 'unknown_name';

/** One thing wrong with one definition. `line` and `col` count from 1. */
export interface Problem {
  severity: 'error' | 'warning';
  kind: DefinitionKind | null;
  name: string | null;
  file: string;
  loc: Loc;
  msg: string;
  line?: number;
  col?: number;
  reason: ProblemReason;
}

/** A problem without its file. */
export interface Finding {
  severity?: 'error' | 'warning';
  loc: Loc;
  msg: string;
  reason?: ProblemReason;
}

/** Characters of a key, about those of a location, and those of a message. A definition may have many problems. */
const MOST = { key: 100, loc: 400, msg: 500 };
const LEAST = { key: 50, loc: 100, msg: 100 };

/** With the start of a long location or message, as copies: their keys and names may be as long as the definition. */
export const shortProblem = <P extends { loc: Loc; msg: string }>(problem: P): P => shortened(problem, MOST);
/** The same where there is little room. */
export const briefProblem = <P extends { loc: Loc; msg: string }>(problem: P): P => shortened(problem, LEAST);

const shortened = <P extends { loc: Loc; msg: string }>(problem: P, most: typeof MOST): P => ({
  ...problem,
  loc: shortLoc(problem.loc, most),
  msg: cutShort(problem.msg, most.msg),
});

function shortLoc(loc: Loc, most: typeof MOST): Loc {
  const short: Loc = [];
  let chars = 0;
  for (const part of loc) {
    if (chars >= most.loc) return [...short, '…'];
    short.push(typeof part === 'string' ? cutShort(part, most.key) : part);
    chars += String(short.at(-1)).length + 1;
  }
  return short;
}
