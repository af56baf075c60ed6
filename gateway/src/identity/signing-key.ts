import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readIfPresent, writePrivate } from './private-file.ts';

/** With what the gateway proves to an agent's pod that it is the gateway (Design 6). */
export interface SigningKey {
  privateKey: KeyObject;
  /** PEM; what the pods are given. */
  publicKey: string;
}
export type SigningKeyResult = { ok: true; key: SigningKey } | { ok: false; message: string };

const FILE = 'runner-signing-key.pem';

/** The Ed25519 key from `pem` (several gateways share one), else from `identityDir`, else minted into it with mode 0600. */
export function loadSigningKey(identityDir: string, pem: string | undefined): SigningKeyResult {
  const path = join(identityDir, FILE);
  const origin = pem ? 'GATEWAY_SIGNING_KEY' : `identity_dir: ${path}`;
  try {
    const key = createPrivateKey(pem || readOrMint(identityDir, path));
    if (key.asymmetricKeyType !== 'ed25519') return { ok: false, message: `${origin}: must be an Ed25519 private key` };
    const publicKey = createPublicKey(key).export({ type: 'spki', format: 'pem' });
    return { ok: true, key: { privateKey: key, publicKey: String(publicKey) } };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return { ok: false, message: `${origin}: is no usable private key (${code})` };
  }
}

function readOrMint(identityDir: string, path: string): string {
  mkdirSync(identityDir, { recursive: true, mode: 0o700 });
  const stored = readIfPresent(path);
  if (stored !== null) return stored;
  const { privateKey } = generateKeyPairSync('ed25519');
  const text = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  writePrivate(path, text);
  return text;
}
