import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Caller } from './caller.ts';
import type { KnownToken, TokenTable } from './tokens.ts';

/** What the cookie carries: name, role, team, expiry (seconds) and a digest of the token, under a random id (Orchestration 5, rule 6). */
const Payload = z.strictObject({
  id: z.string(),
  name: z.string(),
  role: z.string(),
  team: z.string().nullable(),
  expires: z.number(),
  token: z.string(),
});
type Payload = z.infer<typeof Payload>;

export interface Session {
  caller: Caller;
  csrf: string;
}

/** A session that a cookie carries, and when its time is over (ms). */
export interface CookieSession extends Session {
  id: string;
  expiresAt: number;
}

/** Sessions that were logged out before they expired; their cookies are refused. */
export interface EndedSessions {
  has(id: string): Promise<boolean>;
  add(id: string, expiresAt: number): Promise<void>;
}

export interface Sessions {
  seal(token: KnownToken, maxAgeSeconds: number): string;
  /** Null for a forged, expired or revoked cookie: the token must still be configured, the same and with the same role and team. */
  open(cookie: string): CookieSession | null;
  /** The CSRF token of a caller who has no session. */
  csrfFor(subject: string): string;
}

export interface SessionDeps {
  tokens: TokenTable;
  /** Null: a random key, so every session ends with the process. */
  secret: string | null;
  now(): number;
}

export function createSessions({ tokens, secret, now }: SessionDeps): Sessions {
  const key = secret === null ? randomBytes(32) : hash('sha256', `session\0${secret}`, 'buffer');
  const mac = (purpose: string, text: string) =>
    createHmac('sha256', key).update(`${purpose}\0${text}`).digest('base64url');
  return {
    seal: (token, maxAgeSeconds) => {
      const payload: Payload = {
        id: randomBytes(12).toString('base64url'),
        name: token.name,
        role: token.role,
        team: token.team,
        expires: Math.floor(now() / 1000) + maxAgeSeconds,
        token: fingerprint(token),
      };
      const text = Buffer.from(JSON.stringify(payload)).toString('base64url');
      return `${text}.${mac('cookie', text)}`;
    },
    open: (cookie) => {
      const [text = '', signature = '', ...rest] = cookie.split('.');
      if (rest.length > 0 || !sameText(signature, mac('cookie', text))) return null;
      const payload = decode(text);
      if (!payload || payload.expires * 1000 <= now()) return null;
      const token = tokens.byName(payload.name);
      if (!token || !isUnchanged(payload, token)) return null;
      const { id, expires } = payload;
      return { id, caller: token, csrf: mac('csrf', id), expiresAt: expires * 1000 };
    },
    csrfFor: (subject) => mac('csrf', subject),
  };
}

const fingerprint = ({ digest }: KnownToken) => digest.subarray(0, 16).toString('base64url');

const isUnchanged = (payload: Payload, token: KnownToken) =>
  payload.token === fingerprint(token) && payload.role === token.role && payload.team === token.team;

/** Only what this process signed arrives here, but an older version may have signed another shape. */
function decode(text: string): Payload | null {
  const parsed = Payload.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  return parsed.success ? parsed.data : null;
}

/** Constant-time for texts of one length. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
