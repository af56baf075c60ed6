import type { CustomObject } from './custom-object.ts';

/** How many complete empty lists, over how long, it takes to believe that everything is gone (Design 7). */
const EMPTY_LISTS = 3;
const EMPTY_MS = 60_000;

/**
 * What is known of one kind in one scope (a namespace, or all). A list that fails never reaches it, and one that is empty
 * takes away nothing until it was seen often enough; what a watch saw deleted is gone at once.
 */
export interface ScopeStore {
  /** A complete list. */
  replace(objects: readonly CustomObject[]): void;
  /** True where it changed something: an event that is older than what is known does not. */
  upsert(object: CustomObject): boolean;
  remove(uid: string): boolean;
  objects(): CustomObject[];
  /** A complete list was seen. */
  synced(): boolean;
  /** Whether an object that is absent was really deleted. */
  isGone(uid: string): boolean;
  /** An empty list waits to be confirmed. */
  doubtful(): boolean;
}

export function createScopeStore(now: () => number): ScopeStore {
  let known = new Map<string, CustomObject>();
  let synced = false;
  let trusted = false;
  let empties: number[] = [];
  /** Uids that were seen deleted since the last list: an event that comes late brings none of them back. */
  let gone = new Set<string>();

  /** True once an empty list is believed. */
  const emptyBelieved = (): boolean => {
    if (trusted && known.size === 0) return true;
    empties.push(now());
    const [first = 0] = empties;
    return empties.length >= EMPTY_LISTS && now() - first >= EMPTY_MS;
  };

  return {
    replace: (objects) => {
      synced = true;
      if (objects.length === 0 && !emptyBelieved()) return;
      empties = [];
      gone = new Set();
      trusted = true;
      // One that has not changed stays the object that it was: what was made of it is still known.
      const before = known;
      known = new Map(objects.map((object) => [object.uid, unchanged(before.get(object.uid), object) ?? object]));
    },
    upsert: (object) => {
      if (gone.has(object.uid)) return false;
      const before = known.get(object.uid) ?? sameName(known, object);
      if (before && !isNewer(object.resourceVersion, before.resourceVersion)) return false;
      if (before) known.delete(before.uid);
      known.set(object.uid, object);
      return true;
    },
    remove: (uid) => {
      gone.add(uid);
      return known.delete(uid);
    },
    objects: () => [...known.values()],
    synced: () => synced,
    isGone: (uid) => gone.has(uid) || (trusted && empties.length === 0),
    doubtful: () => empties.length > 0,
  };
}

const unchanged = (before: CustomObject | undefined, { resourceVersion }: CustomObject): CustomObject | undefined =>
  before?.resourceVersion === resourceVersion ? before : undefined;

/** An object that was replaced under its name, where its deletion was not seen. */
function sameName(
  known: ReadonlyMap<string, CustomObject>,
  { namespace, name }: CustomObject,
): CustomObject | undefined {
  return [...known.values()].find((other) => other.namespace === namespace && other.name === name);
}

/** Resource versions of one API server are decimal numbers; those that are not are taken as they come. */
function isNewer(candidate: string, known: string): boolean {
  if (!/^\d+$/.test(candidate) || !/^\d+$/.test(known)) return candidate !== known;
  return candidate.length === known.length ? candidate > known : candidate.length > known.length;
}
