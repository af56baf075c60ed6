import { isComputeLimit } from '../language/compute-limit.ts';
import type { DefinitionKind, Problem } from '../problem.ts';
import { type Body, expandUses, type FindStep } from './expand.ts';
import { judge, type Judged, type Look, type Sound } from './look.ts';
import type { Operator } from './operator.ts';
import { type Fitted, isFitting, keepFitting, type ProblemRoom } from './problem-room.ts';
import type { ResolveMemo } from './resolve-memo.ts';
import { sharing } from './sharing.ts';
import { type Definition, type Source, toProblem } from './source.ts';
import type { Turns } from './turns.ts';
import { type Done, isLarge, isPassing, notDone, workOn } from './work.ts';

export interface Checked<R> {
  definition: Definition;
  /** The same object for as long as nothing changes. */
  resolved: R;
}

/** Shared by all checks of one call. */
export interface Resolving {
  memo: ResolveMemo;
  problems: Problem[];
  operator: Operator | undefined;
  /** The operator's rules as a string; when it changes, cached results are dropped. */
  rules: string;
  heldBy?: HeldBy | undefined;
}

/** Which namespace had a name last, the empty one for the operator; undefined where nobody had it. */
export type HeldBy = (kind: DefinitionKind, name: string) => string | undefined;

/** The result of the checks of one definition, with their input. */
interface Outcome<R> extends Fitted {
  resolved: R | null;
  seen: {
    body: Body;
    soul: string | undefined;
    namespace: string | undefined;
    rules: string;
    found: readonly (readonly [string, ReturnType<FindStep>])[];
  };
}

export interface Check<T, R> {
  find: FindStep;
  /** Answers null for `sound` where the schema refuses; findings say why. */
  look: Look<T>;
  resolve(sound: Sound<T>, source: Source): R;
}

/** Checks every definition that is not remembered with the same text, steps and rules; those with an error are left out. */
export function* checkAll<T, R>(
  definitions: readonly Definition[],
  check: Check<T, R>,
  to: Resolving,
): Turns<Checked<R>[]> {
  const checked: Checked<R>[] = [];
  for (const definition of definitions) {
    const { kind, source, body } = definition;
    const key = `check ${kind} ${source.file}`;
    const room = { memo: to.memo, key, namespace: source.namespace, operator: to.operator, body };
    const isCurrent = ({ seen, ...fitted }: Outcome<R>) =>
      seen.body === body &&
      seen.soul === source.soul &&
      seen.namespace === source.namespace &&
      seen.rules === to.rules &&
      seen.found.every(([name, found]) => sameFound(found, check.find(name))) &&
      isFitting(fitted, room);
    const { resolved, problems } =
      to.memo.find(key, isCurrent) ?? (yield* checkOne(definition, check, { ...to, room }));
    for (const problem of problems) to.problems.push(problem);
    if (resolved) checked.push({ definition, resolved });
  }
  return checked;
}

function* checkOne<T, R>(
  definition: Definition,
  { find, look, resolve }: Check<T, R>,
  { operator, rules, room }: Resolving & { room: ProblemRoom },
): Turns<Outcome<R>> {
  const { kind, source, body } = definition;
  const found = new Map<string, ReturnType<FindStep>>();
  const remembering: FindStep = (name) => {
    const step = find(name);
    found.set(name, step);
    return step;
  };
  const written = kind === 'Pipeline' ? expandUses(body, remembering, EVERYBODY).body : body;
  const work = isLarge(written) ? workOn(kind, source, { found: [...found], operator }) : null;
  const done = yield work && { name: definition.name ?? source.file, work };
  const { sound, problems } = done ? toJudged<T>(done, definition) : judge(look, definition, remembering, operator);
  const outcome: Outcome<R> = {
    resolved: sound && resolve(shared(sound, written), source),
    problems,
    seen: { body, soul: source.soul, namespace: source.namespace, rules, found: [...found] },
  };
  return isPassing(done) ? outcome : keepFitting(outcome, room);
}

/** The bodies of library steps are in memory once, however many pipelines use them. */
const shared = <T>({ config, body, ...rest }: Sound<T>, written: Body): Sound<T> => ({
  ...rest,
  config: sharing(config, written),
  body: sharing(body, written),
});

/** Only the size counts here: whose steps they are is checked later. */
const EVERYBODY = { namespace: null, mayUse: () => true };

function toJudged<T>(done: Done, definition: Definition): Judged<T> {
  if (!isComputeLimit(done)) return done.worked as Judged<T>;
  return { sound: null, problems: [toProblem(definition, { loc: [], msg: notDone(done), reason: 'too_large' })] };
}

function sameFound(a: ReturnType<FindStep>, b: ReturnType<FindStep>): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  if ('meant' in a) return 'meant' in b && a.meant === b.meant;
  return 'body' in b && a.body === b.body && a.standing.namespace === b.standing.namespace;
}
