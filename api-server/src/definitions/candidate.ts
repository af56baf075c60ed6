import { basename, join } from 'node:path';
import { isName, parseYaml, type Loc, type Problem, type Source, valueAt } from '@signalbox/crds';
import { isManaged, type Read } from './read-all.ts';
import type { Turn } from './registry.ts';
import { isError } from './resolve-read.ts';
import type { Snapshot } from './snapshot.ts';

export type WriteKind = 'Pipeline' | 'LibraryStep';

export interface FieldError {
  loc: Loc;
  msg: string;
  /** Place in the text, from one; absent where it has none. */
  line?: number;
  col?: number;
}

/** A problem that a change would cause in another definition. */
export interface Breakage extends FieldError {
  kind: WriteKind;
  name: string;
}

/** The file of a definition; `text` is null where the file cannot be read. */
export interface Found {
  file: string;
  text: string | null;
  managed: boolean;
}

export interface Candidate {
  read: Read;
  snapshot: Snapshot;
  errors: FieldError[];
  warnings: FieldError[];
  breaks: Breakage[];
}

const LISTS = { Pipeline: 'pipelines', LibraryStep: 'steps' } as const;
const served = (snapshot: Snapshot, kind: WriteKind) => (kind === 'Pipeline' ? snapshot.byName : snapshot.stepsByName);

/** Finds a definition, also an invalid one, by the name in its text; a file without a name by its file name. */
export function findDefinition({ read, before }: Turn, kind: WriteKind, name: string): Found | null {
  const ofKind = before.problems.filter((problem) => problem.kind === kind && isError(problem));
  const file =
    served(before, kind).get(name)?.file ??
    ofKind.find((problem) => problem.name === name && problem.reason !== 'name_conflict')?.file ??
    ofKind.find((problem) => problem.name === null && fileNames(name).includes(basename(problem.file)))?.file;
  if (file === undefined) return null;
  const source = read[LISTS[kind]].find((one) => one.file === file);
  return { file, text: source?.text ?? null, managed: source !== undefined && isManaged(source) };
}

const fileNames = (name: string) => [`${name}.yaml`, `${name}.yml`];
export const fileFor = (folder: string, name: string): string => join(folder, `${name}.yaml`);

/** The `name` in a YAML text; null where it is missing or not allowed. */
export function nameIn(yaml: string): string | null {
  const body = bodyOf(yaml);
  return isName(body?.['name']) ? body['name'] : null;
}

function bodyOf(yaml: string): Record<string, unknown> | null {
  const parsed = parseYaml(yaml);
  const isMap = parsed.ok && typeof parsed.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value);
  return isMap ? (parsed.value as Record<string, unknown>) : null;
}

export interface Edit {
  kind: WriteKind;
  name: string | null;
  file: string;
  /** Null removes the file. */
  text: string | null;
  /** What the gateway has, to be warned of other agents; absent where that is not asked. */
  agentNames?: readonly string[] | undefined;
}

/** The set of definitions with the edit applied: the problems of the edited file, and those in other definitions (Orchestration 4.5). */
export async function tryEdit(turn: Turn, edit: Edit): Promise<Candidate> {
  const read = edited(turn.read, edit);
  const agentsFor = edit.agentNames && { file: edit.file, names: edit.agentNames };
  const snapshot = await turn.tryOut({ read, agentsFor });
  const own = snapshot.problems.filter(({ file }) => file === edit.file);
  const errors = own.filter(isError).map(toError);
  // A shell check that is not allowed is refused, not warned of.
  const warnings = own.filter((one) => !isError(one) && one.reason !== 'shell_not_allowed').map(toError);
  if (edit.text !== null && !edit.text.isWellFormed())
    errors.unshift({ loc: [], msg: 'contains half of a surrogate pair' });
  return { read, snapshot, errors, warnings, breaks: breakages(turn.before, snapshot, edit) };
}

/** Invalid YAML has no keys, so only the line locates the problem. */
const toError = ({ loc, msg, reason, line, col }: Problem): FieldError => ({
  loc,
  msg: reason === 'syntax' && loc.length === 0 ? `line ${line}, column ${col}: ${msg}` : msg,
  ...(line !== undefined && { line, col }),
});

function edited(read: Read, { kind, file, text }: Edit): Read {
  const key = LISTS[kind];
  const prior = read[key].find((source) => source.file === file);
  const others = read[key].filter((source) => source !== prior);
  const source: Source[] = text === null ? [] : [{ precedence: 1, ...prior, file, text }];
  return { ...read, [key]: [...others, ...source], problems: read.problems.filter((problem) => problem.file !== file) };
}

/** New errors in other files, and definitions that are loaded now and would not load with the edit. */
function breakages(before: Snapshot, after: Snapshot, edit: Edit): Breakage[] {
  const known = new Set(before.problems.filter(isError).map(keyOf));
  const added = after.problems
    .filter((problem) => isError(problem) && problem.file !== edit.file && !known.has(keyOf(problem)))
    .map(({ kind, name, file, loc, msg }) => ({ kind: kind as WriteKind, name: name ?? basename(file), loc, msg }));
  const named = new Set(added.map(({ kind, name }) => `${kind} ${name}`));
  const lost = (['Pipeline', 'LibraryStep'] as const).flatMap((kind) =>
    [...served(before, kind).keys()]
      .filter((name) => !served(after, kind).has(name) && !named.has(`${kind} ${name}`))
      .filter((name) => kind !== edit.kind || name !== edit.name)
      .map((name): Breakage => ({ kind, name, loc: [], msg: 'would no longer load' })),
  );
  return [...added, ...lost];
}

const keyOf = ({ file, reason, loc, msg }: Problem): string => JSON.stringify([file, reason, loc, msg]);

/** Shell checks in the text while they are not allowed; the loader only warns about them. */
export function forbiddenShell({ snapshot }: Candidate, { file, text }: Edit): FieldError[] {
  const body = text === null ? null : bodyOf(text);
  return snapshot.problems
    .filter(
      (problem) => problem.file === file && problem.reason === 'shell_not_allowed' && isWritten(body, problem.loc),
    )
    .map(toError);
}

/** What counts further checks has no place. */
function isWritten(body: unknown, loc: Loc): boolean {
  return loc.length > 0 && valueAt(body, loc) !== undefined;
}
