import { createHash, timingSafeEqual } from 'node:crypto';

export type Scope = 'admin' | 'invoke';

/** The caller's token, or which of the two 401 messages applies (Gateway 7). */
export type Authentication = { ok: true; token: Scope } | { ok: false; reason: 'missing' | 'invalid' };
export type Authenticate = (authorization: string | undefined) => Authentication;

const BEARER = /^Bearer +([^\s]+) *$/i;
const MAX_TOKEN_CHARS = 4096;

/** Compares digests in constant time, always against both tokens. */
export function createAuthenticate(tokens: { admin: string; invoke: string }): Authenticate {
  const known: [Scope, Buffer][] = [
    ['admin', digest(tokens.admin)],
    ['invoke', digest(tokens.invoke)],
  ];
  return (authorization) => {
    if (!authorization) return { ok: false, reason: 'missing' };
    const token = authorization.length > MAX_TOKEN_CHARS ? undefined : BEARER.exec(authorization)?.[1];
    if (token === undefined) return { ok: false, reason: /^Bearer\b/i.test(authorization) ? 'invalid' : 'missing' };
    const presented = digest(token);
    let found: Scope | null = null;
    for (const [scope, expected] of known) if (timingSafeEqual(presented, expected)) found = scope;
    return found === null ? { ok: false, reason: 'invalid' } : { ok: true, token: found };
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** `admin` grants everything, `invoke` only the scope `invoke` (Gateway 5). */
export function grants(token: Scope, needed: Scope): boolean {
  return token === 'admin' || token === needed;
}
