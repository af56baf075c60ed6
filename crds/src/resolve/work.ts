import type { Agent } from '../kinds/agent.ts';
import type { LibraryStep } from '../kinds/library-step.ts';
import type { Pipeline } from '../kinds/pipeline.ts';
import { type ComputeLimit, isComputeLimit } from '../language/compute-limit.ts';
import type { DefinitionKind } from '../problem.ts';
import type { FindStep } from './expand.ts';
import { judge, type Judged, type Look, lookAtAgent, lookAtPipeline, lookAtStep } from './look.ts';
import type { Operator } from './operator.ts';
import { locateAgain, type Read, readSource, type Source } from './source.ts';
import { isSure } from './sure-value.ts';
import { MAX_YAML_BYTES } from './yaml-size.ts';

/** What may take long of one definition. Plain data, so that a thread can do it. */
export interface Work {
  kind: DefinitionKind;
  source: Source;
  /** Null where the source is only read; else the library steps that a check needs, and the operator's rules. */
  check: { found: readonly (readonly [string, ReturnType<FindStep>])[]; operator: Operator | undefined } | null;
}
export type Worked = Read | Judged<unknown>;

/** The result of the work, or why it has none. */
export type Done = { ok: true; worked: Worked } | ComputeLimit;

/** Characters of a definition as JSON, its library steps written out, up to which it is read and checked where it is. */
const SMALL = 8 * 1024;

export const isLarge = (value: unknown): boolean => JSON.stringify(value).length > SMALL;

/** A text that is too large is refused at once. */
export function isLargeText(source: Source): boolean {
  if (!isRead(source)) return false;
  const { length } = source.text;
  return length > SMALL && length <= MAX_YAML_BYTES;
}

/** The source as plain data: a text that is made of a value is made only where it is read. */
export function workOn(kind: DefinitionKind, source: Source, check: Work['check']): Work {
  const { file, value, soul, namespace } = source;
  const plain = {
    file,
    text: isRead(source) ? source.text : '',
    ...(value && { value }),
    ...(soul !== undefined && { soul }),
    ...(namespace !== undefined && { namespace }),
  };
  return { kind, source: plain, check };
}

/** Whether the text is what counts. */
const isRead = ({ value }: Source): boolean => value === undefined || !isSure(value);

const LOOKS: { Pipeline: Look<Pipeline>; LibraryStep: Look<LibraryStep>; Agent: Look<Agent> } = {
  Pipeline: lookAtPipeline,
  LibraryStep: lookAtStep,
  Agent: lookAtAgent,
};

export function doWork({ kind, source, check }: Work): Worked {
  const read = readSource(kind, source);
  const { name, body } = read;
  if (check === null || body === null) return read;
  const found = new Map(check.found);
  const look: Look<unknown> = LOOKS[kind];
  const definition = { kind, source, name, body, locate: locateAgain(source) };
  return judge(look, definition, (use) => found.get(use) ?? 'broken', check.operator);
}

/** The message of a definition that could not be read or checked. */
export const notDone = ({ msg, passing }: ComputeLimit): string =>
  passing ? `was not checked: ${msg}; reload to try again` : `takes too much to check: ${msg}`;

export const isPassing = (done: Done | undefined): boolean =>
  done !== undefined && isComputeLimit(done) && done.passing === true;
