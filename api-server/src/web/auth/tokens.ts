import { hash, timingSafeEqual } from 'node:crypto';
import type { Token } from '../../config/config.ts';
import type { Caller } from './caller.ts';
import { createTokenLimit, type TokenLimit } from './token-limit.ts';

export interface KnownToken extends Caller {
  readonly digest: Buffer;
  readonly limit: TokenLimit | null;
}

export interface TokenTable {
  /** Compares digests with every entry in constant time, so that the timing does not reveal which entry matches. */
  bySecret(secret: string): KnownToken | null;
  byName(name: string): KnownToken | null;
}

export const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');

export function createTokenTable(tokens: readonly Token[], now: () => number = Date.now): TokenTable {
  const known = tokens.map(({ name, role, team, token, ...limits }) => ({
    name,
    role,
    team,
    digest: digestOf(token),
    limit: createTokenLimit(limits, now),
  }));
  const named = new Map(known.map((entry) => [entry.name, entry]));
  return {
    bySecret: (secret) => {
      const digest = digestOf(secret);
      let found: KnownToken | null = null;
      for (const entry of known) if (timingSafeEqual(entry.digest, digest)) found = entry;
      return found;
    },
    byName: (name) => named.get(name) ?? null,
  };
}
