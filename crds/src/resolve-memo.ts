/**
 * What was found out about single definitions, so that resolving a set again looks only at what changed in it. Belongs to
 * whoever resolves; a result never depends on it.
 */
export interface ResolveMemo {
  /** What is known under a key while that is current, else the result of making it again. */
  recall<T>(key: string, isCurrent: (known: T) => boolean, make: () => T): T;
  /** Forgets what was not asked for lately, where there is far more of it than definitions in the set. */
  makeRoom(definitions: number): void;
}

const ENTRIES_A_DEFINITION = 4;
const SPARE_ENTRIES = 200;

export function createResolveMemo(): ResolveMemo {
  let recent = new Map<string, unknown>();
  let older = new Map<string, unknown>();
  return {
    recall: <T>(key: string, isCurrent: (known: T) => boolean, make: () => T): T => {
      const known = (recent.get(key) ?? older.get(key)) as T | undefined;
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
