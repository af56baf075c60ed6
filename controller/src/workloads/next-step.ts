import type { CustomObject } from '../objects/custom-object.ts';
import type { Child } from './child.ts';
import { APPLIED, type KubeObject } from '../objects/child-object.ts';

/** What to do about one wanted object. */
export type NextStep =
  | { do: 'nothing'; child: Child }
  /** Ours, and not as wanted. */
  | { do: 'apply'; child: Child }
  /** Not listed by its label: read it by name, and create it where there is none. */
  | { do: 'find' }
  /** Made for a deleted object of this name; the garbage collector has not removed it yet. */
  | { do: 'delete'; child: Child }
  /** It belongs to another owner. */
  | { do: 'leave' };

/**
 * `edition` is the one that this process saw when the child was as wanted; another edition means a later change by
 * others. A process that has just started trusts the hash. Pure.
 */
export function nextStep(
  wanted: KubeObject,
  child: Child | undefined,
  owner: CustomObject,
  edition: string | undefined,
): NextStep {
  if (!child) return { do: 'find' };
  switch (belongsTo(child, owner)) {
    case 'this': {
      const asApplied = child.applied === wanted.metadata.annotations[APPLIED];
      return asApplied && (edition ?? editionOf(child)) === editionOf(child)
        ? { do: 'nothing', child }
        : { do: 'apply', child };
    }
    case 'predecessor':
      return { do: 'delete', child };
    default:
      return { do: 'leave' };
  }
}

/** Changes when the child's spec changes, or another object replaces it. */
export const editionOf = ({ uid, edition }: Child): string => `${uid} ${edition}`;

/** The owner of a child: this object, an earlier object of this name, or another. */
export function belongsTo({ owner: found }: Child, owner: CustomObject): 'this' | 'predecessor' | 'other' {
  if (found?.uid === owner.uid) return 'this';
  return found?.kind === owner.kind && found.name === owner.name ? 'predecessor' : 'other';
}
