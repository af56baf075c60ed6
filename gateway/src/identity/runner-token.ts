import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import type { OwnedAgent } from '../agents/agent-record.ts';
import type { Authenticate } from './authenticate.ts';

/**
 * The token that the gateway sends to an agent's pod: a JWT (EdDSA) for one agent, valid for one minute and one connection.
 */
interface Claims {
  iss: string;
  aud: string;
  /** The agent. */
  sub: string;
  /** The namespace of its object; absent where it is the operator's, and from gateways of before. */
  ns?: string | undefined;
  /** Seconds since the epoch. */
  iat: number;
  exp: number;
  /** Accepted once. */
  jti: string;
}

const LIFE_SECONDS = 60;
/** How far the clocks of two nodes may be apart. */
const SKEW_SECONDS = 10;
const ISSUER = 'signalbox-gateway';
const AUDIENCE = 'signalbox-agent-runner';
const HEADER = encode({ alg: 'EdDSA', typ: 'JWT' });
const MAX_TOKEN_CHARS = 2048;
const MAX_REMEMBERED = 10_000;

export function signRunnerToken(
  { name, managedBy }: OwnedAgent,
  key: KeyObject,
  { now, id }: { now: number; id: string },
): string {
  const iat = Math.floor(now / 1000);
  const exp = iat + LIFE_SECONDS;
  const claims: Claims = { iss: ISSUER, aud: AUDIENCE, sub: name, ns: managedBy?.namespace, iat, exp, jti: id };
  const signed = `${HEADER}.${encode(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`;
}

/** Reads one or several PEM public keys (several while the gateway's key is replaced). Null when one is not Ed25519. */
export function readPublicKeys(pem: string): KeyObject[] | null {
  const blocks = pem.match(/-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g) ?? [];
  try {
    const keys = blocks.map((block) => createPublicKey(block));
    return keys.length > 0 && keys.every((key) => key.asymmetricKeyType === 'ed25519') ? keys : null;
  } catch {
    return null;
  }
}

export interface RunnerTokenDeps {
  agent: string;
  /** Of the agent's object; undefined where the pod does not know it. */
  namespace?: string | undefined;
  keys: readonly KeyObject[];
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Accepts tokens that the gateway signed for this agent, and not for one of its name in another namespace, each once. */
export function createRunnerAuthenticate({ agent, namespace, keys, now }: RunnerTokenDeps): Authenticate {
  const firstUse = createFirstUse();
  return (authorization) => {
    if (!authorization) return { ok: false, reason: 'missing' };
    const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    const claims = token === undefined ? null : verifiedClaims(token, keys);
    const seconds = now() / 1000;
    const isOurs = claims && isFor(agent, claims) && isIn(namespace, claims);
    const good = isOurs && isCurrent(claims, seconds) && firstUse(claims, seconds);
    return good ? { ok: true, token: 'invoke', approves: 'all' } : { ok: false, reason: 'invalid' };
  };
}

/** Remembers the ids of tokens until they expire. */
function createFirstUse(): (claims: Claims, seconds: number) => boolean {
  const used = new Map<string, number>();
  return ({ jti, exp }, seconds) => {
    for (const [id, until] of used) if (until < seconds || used.size > MAX_REMEMBERED) used.delete(id);
    if (used.has(jti)) return false;
    used.set(jti, exp + SKEW_SECONDS);
    return true;
  };
}

function verifiedClaims(token: string, keys: readonly KeyObject[]): Claims | null {
  if (token.length > MAX_TOKEN_CHARS) return null;
  const [header, payload, signature, ...rest] = token.split('.');
  // The algorithm is fixed; the one that the token names is ignored.
  if (header !== HEADER || !payload || !signature || rest.length > 0) return null;
  const signed = Buffer.from(`${header}.${payload}`);
  const bytes = Buffer.from(signature, 'base64url');
  if (!keys.some((key) => verify(null, signed, key, bytes))) return null;
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Claims;
}

function isFor(agent: string, { iss, aud, sub, jti }: Claims): boolean {
  return iss === ISSUER && aud === AUDIENCE && sub === agent && typeof jti === 'string' && jti !== '';
}

const isIn = (namespace: string | undefined, { ns = namespace }: Claims): boolean =>
  namespace === undefined || ns === namespace;

function isCurrent({ iat, exp }: Claims, seconds: number): boolean {
  return exp - iat <= LIFE_SECONDS && iat <= seconds + SKEW_SECONDS && seconds < exp + SKEW_SECONDS;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
