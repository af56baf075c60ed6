import { type CustomObject, sizeOf } from './custom-object.ts';
import { type Sizes, sizesOf } from './spec-room.ts';

/** So many complete empty lists over this time confirm that everything was deleted. A fault must not delete all files. */
const EMPTY_LISTS = 3;
const EMPTY_MS = 60_000;
/** So long a namespace may be without the rights of this role before the others go on without it. */
const FORBIDDEN_MS = 60_000;

/**
 * The known objects of one kind in one scope (a namespace, or all). A failed list never reaches the store, and an empty
 * list removes nothing until it is confirmed. An object whose deletion the watch saw is removed at once.
 */
export interface ScopeStore {
  /** A complete list. */
  replace(objects: readonly CustomObject[]): void;
  /** The objects as they may be kept, some without their specs. */
  fit(objects: readonly CustomObject[]): CustomObject[];
  /** What the objects of each namespace hold. */
  sizes(): Sizes;
  /** The object that is known in exactly this version; none of which a part was left out, for which there may be room now. */
  find(uid: string, resourceVersion: string): CustomObject | undefined;
  /** True where it changed something: an event that is older than the known object does not. */
  upsert(object: CustomObject): boolean;
  remove(uid: string): boolean;
  objects(): CustomObject[];
  /** A complete list came. */
  synced(): boolean;
  /** The API server answered that this role may not list it. */
  forbid(): void;
  /** For a minute every list was forbidden, and none came before. */
  isForbidden(): boolean;
  /** Whether an object that is absent was really deleted. */
  isGone(uid: string): boolean;
  /** An empty list waits to be confirmed. */
  doubtful(): boolean;
}

/** By so much what is kept may grow between two looks at whether there is room. */
const UNSEEN_GROWTH = 1024 * 1024;

export function createScopeStore(now: () => number, fit: ScopeStore['fit'] = (objects) => [...objects]): ScopeStore {
  let known = new Map<string, CustomObject>();
  let named = new Map<string, CustomObject>();
  let synced = false;
  let forbiddenFrom: number | null = null;
  let trusted = false;
  let empties: number[] = [];
  /** Uids whose deletion was seen since the last list: a late event does not bring one back. */
  let gone = new Set<string>();
  let grown = 0;
  let sizes: Sizes | null = null;

  const index = (objects: readonly CustomObject[]) => {
    const kept = objects.map((object) => sameAs(known.get(object.uid), object));
    known = new Map(kept.map((object) => [object.uid, object]));
    named = new Map(kept.map((object) => [nameOf(object), object]));
    grown = 0;
    sizes = null;
  };

  /** True once an empty list is confirmed. */
  const emptyConfirmed = (): boolean => {
    if (trusted && known.size === 0) return true;
    empties.push(now());
    const [first = 0] = empties;
    return empties.length >= EMPTY_LISTS && now() - first >= EMPTY_MS;
  };

  const find: ScopeStore['find'] = (uid, resourceVersion) => {
    const object = known.get(uid);
    return object?.resourceVersion === resourceVersion && !object.crowded ? object : undefined;
  };

  return {
    find,
    replace: (objects) => {
      synced = true;
      if (objects.length === 0 && !emptyConfirmed()) return;
      empties = [];
      gone = new Set();
      trusted = true;
      // An unchanged object keeps its identity, so that caches keyed by it stay valid.
      index(fit(objects.map((object) => find(object.uid, object.resourceVersion) ?? object)));
    },
    upsert: (object) => {
      if (gone.has(object.uid)) return false;
      const before = known.get(object.uid) ?? named.get(nameOf(object));
      if (before && !isNewer(object.resourceVersion, before.resourceVersion)) return false;
      if (before) known.delete(before.uid);
      known.set(object.uid, object);
      named.set(nameOf(object), object);
      sizes = null;
      grown += Math.max(0, sizeOf(object) - (before && !before.crowded ? sizeOf(before) : 0));
      if (grown > UNSEEN_GROWTH) index(fit([...known.values()]));
      return true;
    },
    remove: (uid) => {
      gone.add(uid);
      const before = known.get(uid);
      if (before && named.get(nameOf(before)) === before) named.delete(nameOf(before));
      sizes = null;
      return known.delete(uid);
    },
    objects: () => {
      index(fit([...known.values()]));
      return [...known.values()];
    },
    fit,
    sizes: () => (sizes ??= sizesOf([...known.values()])),
    synced: () => synced,
    forbid: () => void (forbiddenFrom ??= now()),
    isForbidden: () => !synced && forbiddenFrom !== null && now() - forbiddenFrom >= FORBIDDEN_MS,
    isGone: (uid) => gone.has(uid) || (trusted && empties.length === 0),
    doubtful: () => empties.length > 0,
  };
}

/** The object before where the same was left out of the same version: what was made of it stays known. */
function sameAs(before: CustomObject | undefined, object: CustomObject): CustomObject {
  const isSame =
    before?.resourceVersion === object.resourceVersion &&
    before.crowded &&
    object.crowded &&
    before.status.lastAccepted?.leftOut === object.status.lastAccepted?.leftOut;
  return isSame ? before : object;
}

/** Finds an object that was replaced by another of its name, where its deletion was not seen. */
const nameOf = ({ namespace, name }: CustomObject): string => `${namespace}/${name}`;

/** Resource versions of an API server are decimal numbers; others count as newer wherever they differ. */
export function isNewer(candidate: string, known: string): boolean {
  if (!/^\d+$/.test(candidate) || !/^\d+$/.test(known)) return candidate !== known;
  return candidate.length === known.length ? candidate > known : candidate.length > known.length;
}
