/**
 * Cached results for single definitions, so that resolving a set again only processes what changed. Belongs to
 * all callers; a result never depends on it.
 */
export interface ResolveMemo {
  /** The cached value of a key while it is current, one of its last two, else the newly computed one. */
  recall<T>(key: string, isCurrent: (known: T) => boolean, make: () => T): T;
  /** Whether a value is cached and current. */
  knows(key: string, isCurrent: (known: never) => boolean): boolean;
  /** Removes entries that were not used lately, when there are many more entries than definitions in the set. */
  makeRoom(definitions: number): void;
}

const ENTRIES_A_DEFINITION = 4;
const SPARE_ENTRIES = 200;
/** Of a definition with errors the new text is resolved, and then the one that last loaded: each time the set is. */
const VALUES_A_KEY = 2;

export function createResolveMemo(): ResolveMemo {
  let recent = new Map<string, readonly unknown[]>();
  let older = new Map<string, readonly unknown[]>();
  const valuesOf = (key: string): readonly unknown[] => recent.get(key) ?? older.get(key) ?? [];
  return {
    knows: (key, isCurrent) => valuesOf(key).some((known) => isCurrent(known as never)),
    recall: <T>(key: string, isCurrent: (known: T) => boolean, make: () => T): T => {
      const values = valuesOf(key) as readonly T[];
      const found = values.findIndex(isCurrent);
      const value = found === -1 ? make() : (values[found] as T);
      recent.set(key, [value, ...values.filter((_, at) => at !== found)].slice(0, VALUES_A_KEY));
      return value;
    },
    makeRoom: (definitions) => {
      if (recent.size <= ENTRIES_A_DEFINITION * definitions + SPARE_ENTRIES) return;
      older = recent;
      recent = new Map();
    },
  };
}
