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
  /**
   * To be held while a whole set is resolved. Its end forgets what neither this pass nor the one before used: whoever creates and
   * deletes definitions fills no memory.
   */
  pass(): Disposable;
}

interface Kept {
  value: unknown;
  /** Number of the last pass that used it. */
  used: number;
}

/** Of a definition with errors the new text is resolved, and then the one that last loaded: each time the set is. */
const VALUES_A_KEY = 2;

export function createResolveMemo(): ResolveMemo {
  const known = new Map<string, readonly Kept[]>();
  let passes = 0;
  const find = <T>(key: string, isCurrent: (known: T) => boolean): T | undefined => {
    const found = known.get(key)?.find(({ value }) => isCurrent(value as T));
    if (found) found.used = passes;
    return found?.value as T | undefined;
  };
  const keep = <T>(key: string, value: T): T => {
    const others = (known.get(key) ?? []).toSorted((a, b) => b.used - a.used);
    known.set(key, [{ value, used: passes }, ...others].slice(0, VALUES_A_KEY));
    return value;
  };
  const forgetBefore = (pass: number): void => {
    for (const [key, values] of known) {
      const left = values.filter(({ used }) => used >= pass);
      if (left.length === 0) known.delete(key);
      else if (left.length < values.length) known.set(key, left);
    }
  };
  return {
    find,
    keep,
    recall: (key, isCurrent, make) => find(key, isCurrent) ?? keep(key, make()),
    pass: () => {
      passes += 1;
      const before = passes - 1;
      return { [Symbol.dispose]: () => forgetBefore(before) };
    },
  };
}
