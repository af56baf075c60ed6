import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent as HttpsAgent } from 'node:https';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openAccess } from './access.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'access-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Parts {
  cluster?: object;
  user?: object;
  namespace?: string;
}

function kubeconfig(name: string, { cluster = {}, user = {}, namespace }: Parts): string {
  const path = join(root, name);
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://cluster.test:6443/', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...(namespace ? { namespace } : {}) } }],
    'current-context': 'x',
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}
const base64 = (text: string) => Buffer.from(text).toString('base64');

test('a token goes out as it stands, and one of a file as it is now', async () => {
  expect((await openAccess({}, kubeconfig('token', { user: { token: 'abc' } })).credentials()).headers).toEqual({
    authorization: 'Bearer abc',
  });
  writeFileSync(join(root, 'secret'), 'first\n');
  const access = openAccess({ KUBECONFIG: kubeconfig('file', { user: { tokenFile: 'secret' }, namespace: 'ops' }) });
  expect([access.server, access.namespace]).toEqual(['https://cluster.test:6443', 'ops']);
  expect((await access.credentials()).headers).toEqual({ authorization: 'Bearer first' });
  writeFileSync(join(root, 'secret'), 'second');
  expect((await access.credentials()).headers).toEqual({ authorization: 'Bearer second' });
});

test('certificates come from files beside the kubeconfig or from the kubeconfig itself', async () => {
  writeFileSync(join(root, 'ca.crt'), 'CA');
  const access = openAccess(
    {},
    kubeconfig('certificates', {
      cluster: { 'certificate-authority': 'ca.crt', 'tls-server-name': 'other.test' },
      user: { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
    }),
  );
  const { agent } = await access.credentials();
  expect(agent).toBeInstanceOf(HttpsAgent);
  expect((agent as HttpsAgent).options).toMatchObject({ ca: 'CA', cert: 'CERT', key: 'KEY', servername: 'other.test' });
  expect((await access.credentials()).agent).toBe(agent);
  writeFileSync(join(root, 'ca.crt'), 'NEW');
  expect((await access.credentials()).agent).not.toBe(agent);
});

test('of several kubeconfigs the first that names something wins', () => {
  const first = join(root, 'first');
  writeFileSync(first, 'current-context: x\n');
  const second = kubeconfig('second', { namespace: 'team' });
  expect(openAccess({ KUBECONFIG: [first, second].join(delimiter) }).namespace).toBe('team');
});

test('a plugin is run as kubectl runs it', async () => {
  const credential = {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token: 'made' },
  };
  const exec = { apiVersion: credential.apiVersion, command: 'echo', args: [JSON.stringify(credential)] };
  const access = openAccess({}, kubeconfig('plugin', { user: { exec: { ...exec, interactiveMode: 'Never' } } }));
  expect((await access.credentials()).headers).toMatchObject({ Authorization: 'Bearer made' });
});

test.each([
  ['no context', 'clusters: []\n', /has no context/],
  ['no YAML', '{', /broken: /],
])('a kubeconfig with %s is an error that names the file', (_what, text, expected) => {
  writeFileSync(join(root, 'broken'), text);
  expect(() => openAccess({}, join(root, 'broken'))).toThrow(expected);
});

test('neither a kubeconfig nor a pod is an error that says what to set', () => {
  mkdirSync(join(root, 'home'));
  expect(() => openAccess({ HOME: join(root, 'home') })).toThrow('set KUBECONFIG');
});
