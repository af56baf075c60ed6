import { isComputeLimit } from '../language/compute-limit.ts';
import type { DefinitionKind, Problem } from '../problem.ts';
import type { ResolveMemo } from './resolve-memo.ts';
import { byteOrder, type Definition, locateAgain, type Read, readSource, type Source, toProblem } from './source.ts';
import type { Turns } from './turns.ts';
import { type Done, isLargeText, isPassing, notDone, workOn } from './work.ts';

/** Reads sources by precedence and byte order of their files, so that the result does not depend on their order. */
export function* readSources(
  kind: DefinitionKind,
  sources: readonly Source[],
  { memo, problems }: { memo: ResolveMemo; problems: Problem[] },
): Turns<Definition[]> {
  const sorted = sources.toSorted((a, b) => (a.precedence ?? 0) - (b.precedence ?? 0) || byteOrder(a.file, b.file));
  const definitions: Definition[] = [];
  for (const source of sorted) {
    const known = yield* readOne(kind, source, memo);
    problems.push(...known.problems);
    if (known.body) definitions.push({ kind, source, name: known.name, body: known.body, locate: locateAgain(source) });
  }
  return yield* withoutRepeats(definitions, problems);
}

function* readOne(kind: DefinitionKind, source: Source, memo: ResolveMemo): Turns<Read> {
  const key = `read ${kind} ${source.file}`;
  const written = source.value ?? source.text;
  const isCurrent = (read: Read) => read.written === written;
  let done: Done | undefined;
  if (!memo.knows(key, isCurrent)) {
    done = yield isLargeText(source) ? { name: source.file, work: workOn(kind, source, null) } : null;
  }
  const make = (): Read => ({ ...(done ? toRead(done, kind, source) : readSource(kind, source)), written });
  return isPassing(done) ? make() : memo.recall(key, isCurrent, make);
}

function toRead(done: Done, kind: DefinitionKind, { file }: Source): Read {
  if (!isComputeLimit(done)) return done.worked as Read;
  const about = { severity: 'error', kind, name: null, file, msg: notDone(done), reason: 'too_large' } as const;
  return { written: null, name: null, body: null, problems: [{ ...about, loc: [] }] };
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
