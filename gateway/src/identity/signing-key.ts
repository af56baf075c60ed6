import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, scryptSync } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readIfPresent, writePrivate } from './private-file.ts';

/** The key that the gateway signs tokens for agents' pods with. */
export interface SigningKey {
  privateKey: KeyObject;
  /** PEM, for the pods. */
  publicKey: string;
}
export type SigningKeyResult = { ok: true; key: SigningKey } | { ok: false; message: string };

export const signingKeyFile = (identityDir: string): string => join(identityDir, 'runner-signing-key.pem');

export interface SigningKeyOrigins {
  identityDir: string;
  /** PKCS 8; several gateways share one. */
  pem: string | undefined;
  /** The admin token, where it is configured: gateways that share it derive the same key, also after a restart. */
  adminToken: string | undefined;
}

/**
 * The Ed25519 key from `pem`, else derived from the token, else as stored in `identityDir`, else minted with mode 0600. The folder is the last
 * resort: a tool server of the same user may write to it.
 */
export function loadSigningKey({ identityDir, pem, adminToken }: SigningKeyOrigins): SigningKeyResult {
  const path = signingKeyFile(identityDir);
  const origin = pem ? 'GATEWAY_SIGNING_KEY' : `identity_dir: ${path}`;
  try {
    const key = pem ? createPrivateKey(pem) : adminToken ? derive(adminToken) : readOrMint(identityDir, path);
    if (key.asymmetricKeyType !== 'ed25519') return { ok: false, message: `${origin}: must be an Ed25519 private key` };
    const publicKey = createPublicKey(key).export({ type: 'spki', format: 'pem' });
    return { ok: true, key: { privateKey: key, publicKey: String(publicKey) } };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return { ok: false, message: `${origin}: is not a usable private key (${code})` };
  }
}

function readOrMint(identityDir: string, path: string): KeyObject {
  const stored = readIfPresent(path);
  if (stored) return createPrivateKey(stored);
  mkdirSync(identityDir, { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync('ed25519');
  writePrivate(path, String(privateKey.export({ type: 'pkcs8', format: 'pem' })));
  return privateKey;
}

/** The PKCS 8 header of the 32 bytes of an Ed25519 key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Slow on purpose: pods hold the public key, and a short token must not be guessed from it. */
function derive(adminToken: string): KeyObject {
  const seed = scryptSync(adminToken, 'signalbox runner signing key', 32, { N: 2 ** 15, maxmem: 64 * 2 ** 20 });
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}
