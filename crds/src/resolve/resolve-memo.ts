/**
 * Cached results for single definitions, so that resolving a set again only processes what changed. Belongs to
 * all callers; a result never depends on it.
 */
export interface ResolveMemo {
  /** The cached value of a key while it is current, else the newly computed one. */
  recall<T>(key: string, isCurrent: (known: T) => boolean, make: () => T): T;
  /** Whether a value is cached and current. */
  knows(key: string, isCurrent: (known: never) => boolean): boolean;
  /** Removes entries that were not used lately, when there are many more entries than definitions in the set. */
  makeRoom(definitions: number): void;
}

const ENTRIES_A_DEFINITION = 4;
const SPARE_ENTRIES = 200;

export function createResolveMemo(): ResolveMemo {
  let recent = new Map<string, unknown>();
  let older = new Map<string, unknown>();
  const find = (key: string): unknown => recent.get(key) ?? older.get(key);
  return {
    knows: (key, isCurrent) => {
      const known = find(key);
      return known !== undefined && isCurrent(known as never);
    },
    recall: <T>(key: string, isCurrent: (known: T) => boolean, make: () => T): T => {
      const known = find(key) as T | undefined;
      const value = known !== undefined && isCurrent(known) ? known : make();
      recent.set(key, value);
      return value;
    },
    makeRoom: (definitions) => {
      if (recent.size <= ENTRIES_A_DEFINITION * definitions + SPARE_ENTRIES) return;
      older = recent;
      recent = new Map();
    },
  };
}
