import type { DefinitionKind, Finding, Problem } from '../problem.ts';
import { isName } from '../names.ts';
import type { ResolveMemo } from './resolve-memo.ts';
import { isSure } from './sure-value.ts';
import type { Turns } from './turns.ts';
import { type Locate, type ParsedYaml, parseYaml } from './yaml.ts';

/** One definition file; `soul` is the text beside an agent's configuration. */
export interface Source {
  file: string;
  /** Where `value` is given it may be a getter: it is read only where the value is in doubt. */
  text: string;
  /** The JSON value of which the text was made, with its name as the first key: the text is not parsed then. */
  value?: Record<string, unknown>;
  soul?: string;
  /** Decides which of two definitions keeps a name: the lower number, then the first file in byte order. Default 0. */
  precedence?: number;
  /** Of the object that it was written from; absent for the operator's own files, empty where it is not known. */
  namespace?: string;
}

/** A file that could be read as one YAML map. */
export interface Definition {
  kind: DefinitionKind;
  source: Source;
  /** The name in the file; null where it is not a valid name. */
  name: string | null;
  body: Record<string, unknown>;
  locate: Locate;
}

/** Reads sources by precedence and byte order of their files, so that the result does not depend on their order. */
export function* readSources(
  kind: DefinitionKind,
  sources: readonly Source[],
  { memo, problems }: { memo: ResolveMemo; problems: Problem[] },
): Turns<Definition[]> {
  const sorted = sources.toSorted((a, b) => (a.precedence ?? 0) - (b.precedence ?? 0) || byteOrder(a.file, b.file));
  const definitions: Definition[] = [];
  for (const source of sorted) {
    const key = `read ${kind} ${source.file}`;
    const written = source.value ?? source.text;
    const isCurrent = (read: Read) => read.written === written;
    if (!memo.knows(key, isCurrent)) yield null;
    const known = memo.recall(key, isCurrent, () => readSource(kind, source));
    problems.push(...known.problems);
    if (known.body) definitions.push({ kind, source, name: known.name, body: known.body, locate: locateAgain(source) });
  }
  return yield* withoutRepeats(definitions, problems);
}

interface Read {
  /** The text or the value that was read. */
  written: unknown;
  name: string | null;
  body: Record<string, unknown> | null;
  problems: Problem[];
}

function readSource(kind: DefinitionKind, source: Source): Read {
  const { file } = source;
  const written = source.value ?? source.text;
  const about = { kind, name: null, file, severity: 'error' as const };
  const refused = (problems: Problem[]): Read => ({ written, name: null, body: null, problems });
  const parsed: ParsedYaml =
    source.value && isSure(source.value)
      ? { ok: true, value: source.value, locate: () => null }
      : parseYaml(source.text);
  if (!parsed.ok) return refused(parsed.problems.map((problem) => ({ ...about, ...problem })));
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const msg = value === null ? 'the file is empty' : 'must be a map of keys';
    return refused([{ ...about, loc: [], msg, reason: 'invalid', line: 1, col: 1 }]);
  }
  const body = value as Record<string, unknown>;
  return { written, name: isName(body['name']) ? body['name'] : null, body, problems: [] };
}

/**
 * Parsed again when a place is asked for, once however many are: a syntax tree is ten times its text, so none is kept. A value
 * has no places: nobody wrote its text.
 */
function locateAgain(source: Source): Locate {
  let parsed: ParsedYaml | undefined;
  return (loc) => {
    if (source.value) return null;
    parsed ??= parseYaml(source.text);
    return parsed.ok ? parsed.locate(loc) : null;
  };
}

/** The same name twice: the first file keeps it, the later one is an error. */
function* withoutRepeats(definitions: readonly Definition[], problems: Problem[]): Turns<Definition[]> {
  const first = new Map<string, string>();
  const kept: Definition[] = [];
  for (const definition of definitions) {
    const { name, source } = definition;
    const taken = name === null ? undefined : first.get(name);
    if (name !== null && taken === undefined) first.set(name, source.file);
    if (taken === undefined) {
      kept.push(definition);
      continue;
    }
    yield null;
    problems.push(
      toProblem(definition, {
        loc: ['name'],
        msg: `"${name}" is already defined in ${taken}`,
        reason: 'name_conflict',
      }),
    );
  }
  return kept;
}

/** A finding with its file and line. */
export function toProblem(definition: Definition, finding: Finding): Problem {
  const position = definition.locate(finding.loc);
  return {
    severity: finding.severity ?? 'error',
    kind: definition.kind,
    name: definition.name,
    file: definition.source.file,
    loc: finding.loc,
    msg: finding.msg,
    reason: finding.reason ?? 'invalid',
    ...position,
  };
}

const SURROGATE = /[\ud800-\udfff]/;

/** The order of UTF-8 bytes; that of JavaScript's own comparison unless a character is beyond its first 65,536. */
export function byteOrder(a: string, b: string): number {
  if (a === b) return 0;
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}
