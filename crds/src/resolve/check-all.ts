import { boundFindings } from './bound-findings.ts';
import type { Body, FindStep } from './expand.ts';
import type { Operator } from './operator.ts';
import type { LanguageOptions } from '../references/language.ts';
import type { Finding, Problem } from '../problem.ts';
import type { ResolveMemo } from './resolve-memo.ts';
import { type Definition, toProblem } from './source.ts';
import { schemasAhead, type Turns } from './turns.ts';

export interface Sound<T> {
  config: T;
  body: Body;
  hash: string;
  uses: string[];
}

export interface Checked<T> extends Sound<T> {
  definition: Definition;
}

/** Shared by all checks of one call. */
export interface Resolving {
  memo: ResolveMemo;
  problems: Problem[];
  operator: Operator | undefined;
  options: LanguageOptions;
  /** The operator's rules as a string; when it changes, cached results are dropped. */
  rules: string;
}

/** The result of the checks of one definition, with their input. */
interface Outcome<T> {
  seen: {
    body: Body;
    soul: string | undefined;
    namespace: string | undefined;
    rules: string;
    found: ReadonlyMap<string, ReturnType<FindStep>>;
  };
  sound: Sound<T> | null;
  problems: Problem[];
}

export interface Check<T> {
  find: FindStep;
  /** Answers null for `sound` where the schema refuses; findings say why. */
  look(definition: Definition, find: FindStep): { findings: Finding[]; sound: Sound<T> | null };
}

/** Adds findings to the problems; true when none of them is an error. */
export function accept(definition: Definition, findings: readonly Finding[], problems: Problem[]): boolean {
  problems.push(...boundFindings(findings).map((finding) => toProblem(definition, finding)));
  return findings.every(({ severity }) => severity === 'warning');
}

/** Checks every definition that is not remembered with the same text, steps and rules; those with an error are left out. */
export function* checkAll<T>(
  definitions: readonly Definition[],
  { find, look }: Check<T>,
  to: Resolving,
): Turns<Checked<T>[]> {
  const checked: Checked<T>[] = [];
  for (const definition of definitions) {
    const { kind, source, body } = definition;
    const key = `check ${kind} ${source.file}`;
    const isCurrent = ({ seen }: Outcome<T>) =>
      seen.body === body &&
      seen.soul === source.soul &&
      seen.namespace === source.namespace &&
      seen.rules === to.rules &&
      [...seen.found].every(([name, found]) => sameFound(found, find(name)));
    if (!to.memo.knows(key, isCurrent)) yield { name: definition.name ?? source.file, schemas: schemasAhead(body) };
    const { sound, problems } = to.memo.recall(key, isCurrent, (): Outcome<T> => {
      const found = new Map<string, ReturnType<FindStep>>();
      const remembering: FindStep = (name) => {
        const step = find(name);
        found.set(name, step);
        return step;
      };
      const looked = look(definition, remembering);
      const own: Problem[] = [];
      const ok = accept(definition, looked.findings, own);
      const seen = { body, soul: source.soul, namespace: source.namespace, rules: to.rules, found };
      return { seen, sound: ok ? looked.sound : null, problems: own };
    });
    to.problems.push(...problems);
    if (sound) checked.push({ definition, ...sound });
  }
  return checked;
}

function sameFound(a: ReturnType<FindStep>, b: ReturnType<FindStep>): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  if ('meant' in a) return 'meant' in b && a.meant === b.meant;
  return 'body' in b && a.body === b.body && a.standing.namespace === b.standing.namespace;
}
