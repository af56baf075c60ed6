import { isIPv6 } from 'node:net';

/** Tries of one address, and of all together, until the window they began in is over. */
export const TRIES_AN_ADDRESS = 10;
export const TRIES_IN_ALL = 300;
export const WINDOW_MS = 5 * 60_000;
/** Addresses that are remembered; the longest known is forgotten first. */
export const MAX_ADDRESSES = 10_000;

/** Slows down the guessing of tokens at the login form; a login that works costs no try. */
export interface LoginThrottle {
  /** Takes a try and answers 0, or the seconds until there is one again. */
  take(address: string): number;
  /** Gives the try of a login that worked back. */
  giveBack(address: string): void;
  /** Addresses remembered now. */
  readonly size: number;
}

interface Tries {
  count: number;
  endsAt: number;
}

export function createLoginThrottle(now: () => number): LoginThrottle {
  const byAddress = new Map<string, Tries>();
  let inAll: Tries = { count: 0, endsAt: 0 };

  const triesOf = (key: string): Tries => {
    const known = byAddress.get(key);
    if (known && known.endsAt > now()) return known;
    byAddress.delete(key);
    if (byAddress.size >= MAX_ADDRESSES) byAddress.delete(byAddress.keys().next().value as string);
    const fresh = { count: 0, endsAt: now() + WINDOW_MS };
    byAddress.set(key, fresh);
    return fresh;
  };

  return {
    take: (address) => {
      if (inAll.endsAt <= now()) inAll = { count: 0, endsAt: now() + WINDOW_MS };
      const own = triesOf(network(address));
      const full = own.count >= TRIES_AN_ADDRESS ? own : inAll.count >= TRIES_IN_ALL ? inAll : null;
      if (full) return Math.max(1, Math.ceil((full.endsAt - now()) / 1000));
      own.count += 1;
      inAll.count += 1;
      return 0;
    },
    giveBack: (address) => {
      const own = byAddress.get(network(address));
      if (own) own.count = Math.max(0, own.count - 1);
      inAll.count = Math.max(0, inAll.count - 1);
    },
    get size() {
      return byAddress.size;
    },
  };
}

/** Whoever has one IPv6 address has 2^64 of them. */
function network(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}
