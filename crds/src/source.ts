import type { DefinitionKind, Finding, Problem } from './problem.ts';
import { isName } from './names.ts';
import { type Locate, parseYaml } from './yaml.ts';

/** One definition file; `soul` is the text beside an agent's configuration. */
export interface Source {
  file: string;
  text: string;
  soul?: string;
  /** Who keeps a name that is given twice: the lower number, then the first file in byte order. 0 unless given. */
  precedence?: number;
}

/** A file that could be read as one YAML map. */
export interface Definition {
  kind: DefinitionKind;
  source: Source;
  /** The name it gives itself; null where that is no name. */
  name: string | null;
  body: Record<string, unknown>;
  locate: Locate;
}

/** Reads sources by precedence and byte order of their files, so that a result depends on the set only. */
export function readSources(kind: DefinitionKind, sources: readonly Source[], problems: Problem[]): Definition[] {
  const sorted = sources.toSorted((a, b) => (a.precedence ?? 0) - (b.precedence ?? 0) || byteOrder(a.file, b.file));
  const definitions = sorted.flatMap((source) => readSource(kind, source, problems) ?? []);
  return withoutRepeats(definitions, problems);
}

function readSource(kind: DefinitionKind, source: Source, problems: Problem[]): Definition | null {
  const about = { kind, name: null, file: source.file, severity: 'error' as const };
  const parsed = parseYaml(source.text);
  if (!parsed.ok) {
    problems.push(...parsed.problems.map((problem) => ({ ...about, ...problem, reason: problem.reason })));
    return null;
  }
  const { value, locate } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    problems.push({
      ...about,
      loc: [],
      msg: value === null ? 'the file is empty' : 'must be a map of keys',
      reason: 'invalid',
      line: 1,
      col: 1,
    });
    return null;
  }
  const body = value as Record<string, unknown>;
  return { kind, source, name: isName(body['name']) ? body['name'] : null, body, locate };
}

/** The same name twice: the first file keeps it, the later one is an error (Design 8). */
function withoutRepeats(definitions: readonly Definition[], problems: Problem[]): Definition[] {
  const first = new Map<string, string>();
  return definitions.filter((definition) => {
    const { name, source } = definition;
    const taken = name === null ? undefined : first.get(name);
    if (name !== null && taken === undefined) first.set(name, source.file);
    if (taken === undefined) return true;
    problems.push(
      toProblem(definition, {
        loc: ['name'],
        msg: `"${name}" is already defined in ${taken}`,
        reason: 'name_conflict',
      }),
    );
    return false;
  });
}

/** A finding with the file it stands in and its line. */
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

export function byteOrder(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
