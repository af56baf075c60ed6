import type { CustomObject } from '../objects/custom-object.ts';
import type { Child } from './child.ts';
import { APPLIED, type KubeObject } from './kube-object.ts';

/** What to do about one wanted object. */
export type NextStep =
  | { do: 'nothing'; child: Child }
  /** Ours, and not as it should be. */
  | { do: 'apply'; child: Child }
  /** Not seen by label: look for it by name, and make it where there is none. */
  | { do: 'find' }
  /** Made for an object of this name that was deleted: the garbage collector has not come by yet. */
  | { do: 'delete'; child: Child }
  /** Somebody else's. */
  | { do: 'leave' };

/**
 * `edition` is the one that this process saw when the object was as it should be; anything else means that somebody
 * changed it since. A process that has just started believes the hash. Pure.
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

/** Changes when anybody changes what is wanted of a child, or makes it anew. */
export const editionOf = ({ uid, edition }: Child): string => `${uid} ${edition}`;

/** Whose a child is: this object's, that of one that had its name before, or somebody else's. */
export function belongsTo({ owner: found }: Child, owner: CustomObject): 'this' | 'predecessor' | 'other' {
  if (found?.uid === owner.uid) return 'this';
  return found?.kind === owner.kind && found.name === owner.name ? 'predecessor' : 'other';
}
