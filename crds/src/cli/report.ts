import type { DefinitionKind, Problem } from '../problem.ts';
import { resolveSet, type ResolvedSet } from '../resolve/resolve-set.ts';
import type { Source } from '../resolve/source.ts';
import { classify, type FoundDefinition, type FoundFile } from './classify.ts';

export interface Report {
  lines: string[];
  errors: number;
  warnings: number;
  definitions: number;
}

/** Checks files as the services would and writes one line a problem: `file:line:col: error: message`. */
export function report(files: readonly FoundFile[]): Report {
  const found = files.flatMap(classify);
  const definitions = found.flatMap((item) => ('definition' in item ? [item.definition] : []));
  const unreadable = found.flatMap((item) => ('problem' in item ? [item.problem] : []));
  const skipped = found.flatMap((item) => ('skipped' in item ? [`${item.path}: skipped: ${item.skipped}`] : []));
  const set = resolveSet(toInput(definitions));
  const problems = [...unreadable, ...set.problems.map((problem) => moved(problem, definitions))].toSorted(inFileOrder);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const count = definitions.length + unreadable.length;
  return {
    lines: [...skipped, ...problems.map(toLine), summary(set, count, errors, warnings)],
    errors,
    warnings,
    definitions: count,
  };
}

function toInput(definitions: readonly FoundDefinition[]): { pipelines: Source[]; steps: Source[]; agents?: Source[] } {
  const of = (kind: DefinitionKind): Source[] =>
    definitions.filter((found) => found.kind === kind).map(({ source }) => source);
  const agents = of('Agent');
  return { pipelines: of('Pipeline'), steps: of('LibraryStep'), ...(agents.length > 0 ? { agents } : {}) };
}

/** A problem with its position in the file of the definition. */
function moved(problem: Problem, definitions: readonly FoundDefinition[]): Problem {
  const definition = definitions.find(({ source, kind }) => source.file === problem.file && kind === problem.kind);
  if (!definition) return problem;
  const given =
    problem.line === undefined || problem.col === undefined ? null : { line: problem.line, col: problem.col };
  return { ...problem, file: definition.path, ...definition.place(problem.loc, given) };
}

function inFileOrder(a: Problem, b: Problem): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.col ?? 0) - (b.col ?? 0);
}

function toLine({ file, line = 1, col = 1, severity, loc, msg }: Problem): string {
  const place = loc.length > 0 ? `${loc.join('.')}: ` : '';
  return `${file}:${line}:${col}: ${severity}: ${place}${msg}`;
}

function summary(set: ResolvedSet, definitions: number, errors: number, warnings: number): string {
  const { pipelines, steps, agents } = set;
  const sound = `${counted(pipelines.length, 'pipeline')}, ${counted(steps.length, 'library step')} and ${counted(agents.length, 'agent')} are valid`;
  return `${counted(definitions, 'definition')} read: ${sound}; ${counted(errors, 'error')}, ${counted(warnings, 'warning')}`;
}

export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
