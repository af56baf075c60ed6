import { type DefinitionKind, type Finding, type Problem, shortProblem } from '../problem.ts';
import { isName } from '../names.ts';
import type { Fitted } from './problem-room.ts';
import { isSure } from './sure-value.ts';
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

/** What was read of a source. */
export interface Read extends Fitted {
  /** The text or the value that was read. */
  written: unknown;
  name: string | null;
  body: Record<string, unknown> | null;
}

export function readSource(kind: DefinitionKind, source: Source): Read {
  const { file } = source;
  const written = source.value ?? source.text;
  const about = { kind, name: null, file, severity: 'error' as const };
  const refused = (problems: Problem[]): Read => ({ written, name: null, body: null, problems });
  const parsed: ParsedYaml =
    source.value && isSure(source.value)
      ? { ok: true, value: source.value, locate: () => null }
      : parseYaml(source.text);
  if (!parsed.ok) return refused(parsed.problems.map((problem) => ({ ...about, ...shortProblem(problem) })));
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
export function locateAgain(source: Source): Locate {
  let parsed: ParsedYaml | undefined;
  return (loc) => {
    if (source.value) return null;
    parsed ??= parseYaml(source.text);
    return parsed.ok ? parsed.locate(loc) : null;
  };
}

/** A finding with its file and line. */
export function toProblem(definition: Definition, finding: Finding): Problem {
  const position = definition.locate(finding.loc);
  return shortProblem({
    severity: finding.severity ?? 'error',
    kind: definition.kind,
    name: definition.name,
    file: definition.source.file,
    loc: finding.loc,
    msg: finding.msg,
    reason: finding.reason ?? 'invalid',
    ...position,
  });
}

const SURROGATE = /[\ud800-\udfff]/;

/** The order of UTF-8 bytes; that of JavaScript's own comparison unless a character is beyond its first 65,536. */
export function byteOrder(a: string, b: string): number {
  if (a === b) return 0;
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}
