import { isComputeLimit } from '../language/compute-limit.ts';
import type { DefinitionKind, Finding } from '../problem.ts';
import type { Resolving } from './check-all.ts';
import { isFitting, keepFitting, type ProblemRoom } from './problem-room.ts';
import { byteOrder, type Definition, locateAgain, type Read, readSource, type Source, toProblem } from './source.ts';
import { nameFindings, standingOf } from './standing.ts';
import type { Turns } from './turns.ts';
import { type Done, isLargeText, isPassing, notDone, workOn } from './work.ts';

/** Reads sources by precedence and byte order of their files, so that the result does not depend on their order. */
export function* readSources(
  kind: DefinitionKind,
  sources: readonly Source[],
  to: Pick<Resolving, 'memo' | 'problems' | 'operator' | 'heldBy'>,
): Turns<Definition[]> {
  const sorted = sources.toSorted((a, b) => (a.precedence ?? 0) - (b.precedence ?? 0) || byteOrder(a.file, b.file));
  const { memo, problems, operator } = to;
  const definitions: Definition[] = [];
  const unread = new Map<string, Source>();
  for (const source of sorted) {
    const key = `read ${kind} ${source.file}`;
    const written = source.value ?? source.text;
    const room = { memo, key, namespace: source.namespace, operator };
    const isCurrent = (read: Read) => read.written === written && isFitting(read, room);
    const { name, body, problems: found } = memo.find(key, isCurrent) ?? (yield* readOne(kind, source, room));
    for (const problem of found) problems.push(problem);
    if (body) definitions.push({ kind, source, name, body, locate: locateAgain(source) });
    else if (!unread.has(nameOfFile(source))) unread.set(nameOfFile(source), source);
  }
  return yield* withoutRepeats(definitions, unread, to);
}

function* readOne(kind: DefinitionKind, source: Source, room: ProblemRoom): Turns<Read> {
  const done = yield isLargeText(source) ? { name: source.file, work: workOn(kind, source, null) } : null;
  const written = source.value ?? source.text;
  const read: Read = { ...(done ? toRead(done, kind, source) : readSource(kind, source)), written };
  return isPassing(done) ? read : keepFitting(read, room);
}

function toRead(done: Done, kind: DefinitionKind, { file }: Source): Read {
  if (!isComputeLimit(done)) return done.worked as Read;
  const about = { severity: 'error', kind, name: null, file, msg: notDone(done), reason: 'too_large' } as const;
  return { written: null, name: null, body: null, problems: [{ ...about, loc: [] }] };
}

/** What a file that cannot be read would most likely define. */
const nameOfFile = ({ file }: Source): string => (file.split('/').at(-1) ?? file).replace(/\.ya?ml$/, '');

const rank = ({ precedence = 0 }: Source): number => precedence;

/**
 * The same name twice: the first file keeps it, the later one is an error. So is a name that somebody else had last, and that of a file which
 * cannot be read and comes first.
 */
function* withoutRepeats(
  definitions: readonly Definition[],
  unread: ReadonlyMap<string, Source>,
  { problems, operator, heldBy }: Pick<Resolving, 'problems' | 'operator' | 'heldBy'>,
): Turns<Definition[]> {
  const first = new Map<string, Source>();
  const conflicts = ({ kind, name, source }: Definition): Finding[] => {
    if (name === null) return [];
    const broken = unread.get(name);
    const taken = first.get(name) ?? (broken && rank(broken) < rank(source) ? broken : undefined);
    if (taken)
      return [{ loc: ['name'], msg: `"${name}" is already defined in ${taken.file}`, reason: 'name_conflict' }];
    return nameFindings(name, standingOf(operator?.tenancy, source.namespace), heldBy?.(kind, name));
  };
  const kept: Definition[] = [];
  for (const definition of definitions) {
    const found = conflicts(definition);
    if (found.length === 0) {
      kept.push(definition);
      if (definition.name !== null) first.set(definition.name, definition.source);
      continue;
    }
    yield null;
    problems.push(...found.map((finding) => toProblem(definition, finding)));
  }
  return kept;
}
