/**
 * Cached results for single definitions, so that resolving a set again only processes what changed. Belongs to
 * all callers; a result never depends on it.
 */
export interface ResolveMemo {
  /** The cached value of a key while it is current, one of its last two. */
  find<T>(key: string, isCurrent: (known: T) => boolean): T | undefined;
  keep<T>(key: string, value: T): T;
  /** What is found, else the newly computed value, which is kept. */
  recall<T>(key: string, isCurrent: (known: T) => boolean, make: () => T): T;
  /** Removes entries that were not used lately, when there are many more entries than definitions in the set. */
  makeRoom(definitions: number): void;
}

const ENTRIES_A_DEFINITION = 4;
const SPARE_ENTRIES = 200;
/** Of a definition with errors the new text is resolved, and then the one that last loaded: each time the set is. */
const VALUES_A_KEY = 2;
const NONE: readonly unknown[] = [];

export function createResolveMemo(): ResolveMemo {
  let recent = new Map<string, readonly unknown[]>();
  let older = new Map<string, readonly unknown[]>();
  const valuesOf = (key: string): readonly unknown[] => recent.get(key) ?? older.get(key) ?? NONE;
  const find = <T>(key: string, isCurrent: (known: T) => boolean): T | undefined => {
    const values = valuesOf(key) as readonly T[];
    const found = values.findIndex(isCurrent);
    if (found === -1) return undefined;
    recent.set(key, found === 0 ? values : values.toReversed());
    return values[found];
  };
  const keep = <T>(key: string, value: T): T => {
    recent.set(key, [value, ...valuesOf(key)].slice(0, VALUES_A_KEY));
    return value;
  };
  return {
    find,
    keep,
    recall: (key, isCurrent, make) => find(key, isCurrent) ?? keep(key, make()),
    makeRoom: (definitions) => {
      if (recent.size <= ENTRIES_A_DEFINITION * definitions + SPARE_ENTRIES) return;
      older = recent;
      recent = new Map();
    },
  };
}
