import type { LibraryStep, ObjectReference, Pipeline } from '@signalbox/crds';
import type { Breakage, FieldError } from './candidate.ts';
import type { TurnResult } from './registry.ts';

export type Refusal =
  | { kind: 'invalid'; errors: FieldError[] }
  | { kind: 'not_found' }
  /** `inTheWay`: the name is free, but a file of that name has another definition. */
  | { kind: 'collision'; inTheWay: boolean }
  | { kind: 'managed'; object: ObjectReference | null }
  | { kind: 'breaks'; errors: Breakage[] }
  | { kind: 'no_folder' }
  | { kind: 'unavailable'; cause: unknown };

export type Change = 'created' | 'updated' | 'deleted' | 'suspended' | 'resumed' | 'unchanged';

export interface Done {
  kind: Change;
  name: string;
  /** The loaded definition; null after a delete. */
  config: Pipeline | LibraryStep | null;
  /** The previous text; null for a new definition. */
  priorYaml: string | null;
  /** Path of the file, relative to the folder. */
  file: string;
}

export type WriteResult = { ok: true; done: Done } | { ok: false; name: string | null; refusal: Refusal };

/**
 * Writes the audit row before the change, when it is validated and staged, so that no change lacks its row. A second
 * row, `failed`, follows where the change then fails. Where this throws, nothing changes.
 */
export type RecordChange = (change: {
  name: string;
  outcome: Change | 'failed';
  priorYaml: string | null;
}) => Promise<void>;

/** The result of a change in which nothing changed. */
export const refuse = (name: string | null, refusal: Refusal): TurnResult<WriteResult> => ({
  result: { ok: false, name, refusal },
  adopt: null,
});
