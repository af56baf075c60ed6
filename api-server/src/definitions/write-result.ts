import type { LibraryStep, ObjectReference, Pipeline } from '@signalbox/crds';
import type { Breakage, FieldError } from './candidate.ts';
import type { TurnResult } from './registry.ts';

export type Refusal =
  | { kind: 'invalid'; errors: FieldError[] }
  | { kind: 'not_found' }
  /** `inTheWay`: the name is free, but a file of that name holds something else. */
  | { kind: 'collision'; inTheWay: boolean }
  | { kind: 'managed'; object: ObjectReference | null }
  | { kind: 'breaks'; errors: Breakage[] }
  | { kind: 'no_folder' }
  | { kind: 'unavailable'; cause: unknown };

export type Change = 'created' | 'updated' | 'deleted' | 'suspended' | 'resumed' | 'unchanged';

export interface Done {
  kind: Change;
  name: string;
  /** What is served now; null after a delete. */
  config: Pipeline | LibraryStep | null;
  /** The text as it was; null for what is new. */
  priorYaml: string | null;
  /** Its file below the folder. */
  file: string;
}

export type WriteResult = { ok: true; done: Done } | { ok: false; name: string | null; refusal: Refusal };

/**
 * Writes down what is about to change, when it is sure to be valid and staged but before it happens, so that no change
 * is ever without its row; once more, as `failed`, where it then did not happen. Where this throws, nothing changes.
 */
export type RecordChange = (change: {
  name: string;
  outcome: Change | 'failed';
  priorYaml: string | null;
}) => Promise<void>;

/** The end of a turn in which nothing changed. */
export const refuse = (name: string | null, refusal: Refusal): TurnResult<WriteResult> => ({
  result: { ok: false, name, refusal },
  adopt: null,
});
