import { createHash, timingSafeEqual } from 'node:crypto';
import type { Tokens } from './device-auth.ts';

export type Scope = 'admin' | 'invoke' | 'reload';
type TokenName = Scope | 'approve';

/** Of which runs a connection answers the tool approvals: of all, of those that it started, or of none. */
export type ApprovalRight = 'all' | 'own' | 'none';

/** The caller's token, or which of the two 401 messages applies (Gateway 7). */
export type Authentication =
  | { ok: true; token: TokenName; approves: ApprovalRight }
  | { ok: false; reason: 'missing' | 'invalid' };
export type Authenticate = (authorization: string | undefined) => Authentication;

/** A request that was refused: why, and which one. The route is the declared one, without what the caller wrote into it. */
export type OnAuthFailure = (reason: string, about: { route: string; address: string }) => void;

const BEARER = /^Bearer +([^\s]+) *$/i;
const MAX_TOKEN_CHARS = 4096;

/** Compares digests in constant time, always against every token. */
export function createAuthenticate(tokens: Pick<Tokens, TokenName>): Authenticate {
  const known: [TokenName, Buffer][] = [
    ['admin', digest(tokens.admin)],
    ['invoke', digest(tokens.invoke)],
  ];
  if (tokens.approve !== null) known.push(['approve', digest(tokens.approve)]);
  if (tokens.reload !== null) known.push(['reload', digest(tokens.reload)]);
  const others: ApprovalRight = tokens.approve === null ? 'own' : 'none';
  return (authorization) => {
    if (!authorization) return { ok: false, reason: 'missing' };
    const token = authorization.length > MAX_TOKEN_CHARS ? undefined : BEARER.exec(authorization)?.[1];
    if (token === undefined) return { ok: false, reason: /^Bearer\b/i.test(authorization) ? 'invalid' : 'missing' };
    const presented = digest(token);
    let found: TokenName | null = null;
    for (const [scope, expected] of known) if (timingSafeEqual(presented, expected)) found = scope;
    if (found === null) return { ok: false, reason: 'invalid' };
    return { ok: true, token: found, approves: found === 'approve' ? 'all' : others };
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** `admin` grants every scope, `reload` only itself, the others only `invoke` (Gateway 5). */
export function grants(token: TokenName, needed: Scope): boolean {
  return token === 'admin' || needed === (token === 'reload' ? 'reload' : 'invoke');
}
