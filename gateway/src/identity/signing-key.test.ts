import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadSigningKey } from './signing-key.ts';

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'identity-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function load(identityDir: string, given: { pem?: string; adminToken?: string } = {}) {
  const loaded = loadSigningKey({ identityDir, pem: given.pem, adminToken: given.adminToken });
  if (!loaded.ok) throw new Error(loaded.message);
  return loaded.key;
}

test('gateways that share an admin token share a key, and keep none on disk', () => {
  const [one, other] = [directory(), directory()];
  const key = load(one, { adminToken: 'the-admin-token' }).publicKey;
  expect(load(other, { adminToken: 'the-admin-token' }).publicKey).toBe(key);
  expect(load(one, { adminToken: 'another-token' }).publicKey).not.toBe(key);
  expect([...readdirSync(one), ...readdirSync(other)]).toEqual([]);
});

test('without a token a key is made once, for this user only; a key in the folder is nothing where there is a token', () => {
  const path = directory();
  const key = load(path).publicKey;
  const [file = ''] = readdirSync(path);
  expect(statSync(join(path, file)).mode & 0o777).toBe(0o600);
  expect(load(path).publicKey).toBe(key);
  const derived = load(directory(), { adminToken: 'the-admin-token' }).publicKey;
  expect(load(path, { adminToken: 'the-admin-token' }).publicKey).toBe(derived);
});

test('a key that is given wins', () => {
  const path = directory();
  const given = load(directory(), { adminToken: 'x' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  expect(load(path, { pem: given, adminToken: 'y' }).publicKey).toBe(load(path, { adminToken: 'x' }).publicKey);
  expect(loadSigningKey({ identityDir: path, pem: 'nonsense', adminToken: 'y' })).toMatchObject({
    ok: false,
    message: expect.stringContaining('GATEWAY_SIGNING_KEY'),
  });
});
