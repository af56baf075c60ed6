/**
 * Cached results for single definitions, so that resolving a set again only processes what changed. Belongs to
 * all callers; a result never depends on it.
 */
export interface ResolveMemo {
  /** The cached value of a key while it is current, one of its last two. */
  find<T>(key: string, isCurrent: (known: T) => boolean): T | undefined;
  keep<T>(key: string, value: T, share?: Share): T;
  /** Bytes of the shares that are kept, without that of a value of `key` which this pass did not use. */
  held(holder: string, key: string): { own: number; all: number };
  /** What is found, else the newly computed value, which is kept. */
  recall<T>(key: string, isCurrent: (known: T) => boolean, make: () => T): T;
  /**
   * To be held while a whole set is resolved. Its end forgets what neither this pass nor the one before used: whoever creates and
   * deletes definitions fills no memory.
   */
  pass(): Disposable;
}

/** What a value takes of a room that many share; the empty holder does not count for `all`. */
interface Share {
  holder: string;
  bytes: number;
}

interface Kept {
  value: unknown;
  share: Share | undefined;
  /** Number of the last pass that used it. */
  used: number;
}

/** Of a definition with errors the new text is resolved, and then the one that last loaded: each time the set is. */
const VALUES_A_KEY = 2;

/** No namespace has this name. */
const ALL = '*';

export function createResolveMemo(): ResolveMemo {
  const known = new Map<string, readonly Kept[]>();
  const shares = new Map<string, number>();
  let passes = 0;
  const count = ({ share }: Kept, sign: 1 | -1): void => {
    if (!share) return;
    const { holder, bytes } = share;
    for (const one of holder === '' ? [''] : [holder, ALL]) {
      const sum = (shares.get(one) ?? 0) + sign * bytes;
      if (sum > 0) shares.set(one, sum);
      else shares.delete(one);
    }
  };
  const find = <T>(key: string, isCurrent: (known: T) => boolean): T | undefined => {
    const found = known.get(key)?.find(({ value }) => isCurrent(value as T));
    if (found) found.used = passes;
    return found?.value as T | undefined;
  };
  const keep = <T>(key: string, value: T, share?: Share): T => {
    const others = (known.get(key) ?? []).toSorted((a, b) => b.used - a.used);
    const kept = { value, share, used: passes };
    count(kept, 1);
    for (const gone of others.splice(VALUES_A_KEY - 1)) count(gone, -1);
    known.set(key, [kept, ...others]);
    return value;
  };
  const held: ResolveMemo['held'] = (holder, key) => {
    const stale = (known.get(key) ?? []).filter(({ used }) => used < passes);
    const bytes = stale.reduce((sum, { share }) => sum + (share?.bytes ?? 0), 0);
    return { own: (shares.get(holder) ?? 0) - bytes, all: (shares.get(ALL) ?? 0) - bytes };
  };
  const forgetBefore = (pass: number): void => {
    for (const [key, values] of known) {
      const left = values.filter(({ used }) => used >= pass);
      for (const gone of values) if (gone.used < pass) count(gone, -1);
      if (left.length === 0) known.delete(key);
      else if (left.length < values.length) known.set(key, left);
    }
  };
  return {
    find,
    keep,
    held,
    recall: (key, isCurrent, make) => find(key, isCurrent) ?? keep(key, make()),
    pass: () => {
      passes += 1;
      const before = passes - 1;
      return { [Symbol.dispose]: () => forgetBefore(before) };
    },
  };
}
