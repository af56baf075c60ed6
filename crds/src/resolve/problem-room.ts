import { shortHash } from '../hash.ts';
import { briefProblem, type Problem } from '../problem.ts';
import { isDeciding } from './bound-findings.ts';
import type { Operator } from './operator.ts';
import type { ResolveMemo } from './resolve-memo.ts';

/** Bytes of the problems of all definitions of one namespace, of which those without an error take half, and of all but the release's. */
const MOST_OWN = 1024 * 1024;
const MOST_ALL = 8 * 1024 * 1024;

const BYTES_A_PROBLEM = 200;
const BYTES_A_CHAR = 2;

export interface Fitted {
  problems: Problem[];
  /** What the problems would take that had no room. */
  wanted?: Wanted;
}
interface Wanted {
  bytes: number;
  hasErrors: boolean;
}

/** The room of one definition. */
export interface ProblemRoom {
  memo: ResolveMemo;
  key: string;
  /** Of the definition; absent for a file of the operator. */
  namespace: string | null | undefined;
  operator: Operator | undefined;
  /** The text of the definition as a value. */
  body?: unknown;
}

/** Keeps a value with its problems, or with the first of them where they have no room beside those of others. */
export function keepFitting<T extends Fitted>(value: T, room: ProblemRoom): T {
  const wanted = { bytes: bytesOf(value.problems), hasErrors: value.problems.some(isError) };
  const fitted = hasRoom(wanted, room) ? value : { ...value, problems: briefly(value.problems, room), wanted };
  // Of the others there are no more than definitions.
  return room.memo.keep(room.key, fitted, { holder: holderOf(room), bytes: fitted === value ? wanted.bytes : 0 });
}

/** The same of problems that are looked for each time, remembered for as long as they are the same. */
export function fitting(problems: Problem[], room: ProblemRoom): readonly Problem[] {
  if (problems.length === 0) return problems;
  const hash = shortHash(problems);
  const isCurrent = (known: Fitted & { hash: string }) => known.hash === hash && isFitting(known, room);
  return (room.memo.find(room.key, isCurrent) ?? keepFitting({ hash, problems }, room)).problems;
}

/** Whether it is as it would be made now: what had no room and would have some is made again. */
export const isFitting = ({ wanted }: Fitted, room: ProblemRoom): boolean => !wanted || !hasRoom(wanted, room);

function hasRoom({ bytes, hasErrors }: Wanted, room: ProblemRoom): boolean {
  const holder = holderOf(room);
  const { own, all } = room.memo.held(holder, room.key);
  const part = hasErrors ? 1 : 0.5;
  return bytes === 0 || (own + bytes <= MOST_OWN * part && (holder === '' || all + bytes <= MOST_ALL * part));
}

const holderOf = ({ namespace, operator }: ProblemRoom): string =>
  namespace === operator?.tenancy?.home ? '' : (namespace ?? '');

function briefly(problems: readonly Problem[], { body }: ProblemRoom): Problem[] {
  const first = problems.find(isError) ?? problems.find((problem) => isDeciding(problem, body)) ?? problems[0];
  if (!first) return [];
  return [briefProblem(first), ...(problems.length > 1 ? [{ ...withoutPlace(first), msg: NO_ROOM }] : [])];
}

const NO_ROOM = 'and more problems, which have no room beside those of other definitions';

const withoutPlace = ({ severity, kind, name, file, reason }: Problem) => ({
  severity,
  kind,
  name,
  file,
  reason,
  loc: [],
});

const isError = ({ severity }: Problem): boolean => severity === 'error';

const bytesOf = (problems: readonly Problem[]): number =>
  problems.reduce((sum, problem) => sum + BYTES_A_PROBLEM + BYTES_A_CHAR * charsOf(problem), 0);

const charsOf = ({ loc, msg }: Problem): number =>
  loc.reduce<number>((sum, part) => sum + String(part).length, msg.length);
