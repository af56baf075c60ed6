import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { makeCertificate } from '../../../e2e/support/certificate.ts';
import type { CustomObject } from '../objects/custom-object.ts';
import { type FakeApiServer, startFakeApiServer } from '../testing/fake-api-server.ts';
import { connectCluster } from './cluster.ts';
import { listAll, type Listed } from './list.ts';
import { collectionOf } from './reflector.ts';

let root = '';
let api: FakeApiServer;
let server: { certFile: string; keyFile: string };
const closing: (() => void)[] = [];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'cluster-'));
  server = makeCertificate(root, 'server');
  api = await startFakeApiServer({
    cert: readFileSync(server.certFile, 'utf8'),
    key: readFileSync(server.keyFile, 'utf8'),
  });
  api.apply('Pipeline', 'checkout', { steps: [] });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0)) close();
  await api.close();
  rmSync(root, { recursive: true, force: true });
});

interface Parts {
  cluster?: object;
  user?: object;
  namespace?: string;
}

/** A kubeconfig for the fake API server; paths in it are relative to its folder. */
function kubeconfig(name: string, { cluster = {}, user = {}, namespace }: Parts = {}): string {
  const path = join(root, name);
  const trusted = { server: api.url, 'certificate-authority': basename(server.certFile) };
  const config = {
    clusters: [{ name: 'c', cluster: { ...trusted, ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...(namespace ? { namespace } : {}) } }],
    'current-context': 'x',
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

const clusterOf = (path: string) => connectCluster({ now: Date.now, kubeconfig: path });
const pipelinesOf = (path: string): Promise<Listed<CustomObject>> =>
  listAll(collectionOf(clusterOf(path), { kind: 'Pipeline', namespace: null }), new AbortController().signal);
const listed = expect.objectContaining({ ok: true, items: [expect.anything()] });

test('a kubeconfig with a token', async () => {
  expect(await pipelinesOf(kubeconfig('token', { user: { token: 'abc' } }))).toEqual(listed);
  expect(api.caller().authorization).toBe('Bearer abc');
});

test('a kubeconfig with a token file beside it, whose token changes', async () => {
  const file = join(root, 'rotating');
  writeFileSync(file, 'first\n');
  const user = { token: 'stale', tokenFile: 'rotating' };
  const cluster = clusterOf(kubeconfig('token-file', { user }));
  const list = () =>
    listAll(collectionOf(cluster, { kind: 'Pipeline', namespace: null }), new AbortController().signal);
  expect(await list()).toEqual(listed);
  expect(api.caller().authorization).toBe('Bearer first');
  writeFileSync(file, 'second\n');
  expect(await list()).toEqual(listed);
  expect(api.caller().authorization).toBe('Bearer second');
  rmSync(file);
  expect(await list()).toMatchObject({ ok: false, message: expect.stringContaining('rotating') });
});

test('a kubeconfig with a client certificate in files beside it, and one that carries the certificate', async () => {
  const { certFile, keyFile } = makeCertificate(root, 'ops');
  const files = { 'client-certificate': 'ops.crt', 'client-key': 'ops.key' };
  expect(await pipelinesOf(kubeconfig('files', { user: files }))).toEqual(listed);
  expect(api.caller().certificate).toBe('ops');
  const base64 = (file: string) => readFileSync(file).toString('base64');
  const data = { 'client-certificate-data': base64(certFile), 'client-key-data': base64(keyFile) };
  expect(await pipelinesOf(kubeconfig('data', { user: data }))).toEqual(listed);
  expect(api.caller().certificate).toBe('ops');
});

test('a kubeconfig with an exec plugin', async () => {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const credential = { apiVersion, kind: 'ExecCredential', status: { token: 'made' } };
  const exec = { apiVersion, command: 'echo', args: [JSON.stringify(credential)], interactiveMode: 'Never' };
  expect(await pipelinesOf(kubeconfig('plugin', { user: { exec } }))).toEqual(listed);
  expect(api.caller().authorization).toBe('Bearer made');
});

test('an exec plugin that fails is a refusal with what it said', async () => {
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'sh',
    args: ['-c', 'echo expired >&2; exit 1'],
  };
  expect(await pipelinesOf(kubeconfig('plugin', { user: { exec } }))).toEqual({
    ok: false,
    status: 0,
    message: expect.stringContaining('expired'),
  });
});

/** An HTTP proxy that tunnels, and the addresses it was asked for. */
async function startProxy() {
  const tunnels: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer().on('connect', (request, socket: Socket) => {
    const target = request.url ?? '';
    tunnels.push(target);
    const [host = '', port] = target.split(':');
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    for (const one of [socket, upstream]) sockets.add(one.on('error', () => undefined));
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, tunnels };
}

test('a kubeconfig with a proxy', async () => {
  const proxy = await startProxy();
  const path = kubeconfig('proxy', { cluster: { 'proxy-url': proxy.url }, user: { token: 'abc' } });
  expect(await pipelinesOf(path)).toEqual(listed);
  expect(proxy.tunnels).toEqual([new URL(api.url).host]);
  expect(api.caller().authorization).toBe('Bearer abc');
});

test('KUBECONFIG may name several files; the first with a current context decides', async () => {
  const first = join(root, 'first');
  writeFileSync(first, 'current-context: x\n');
  vi.stubEnv('KUBECONFIG', [first, kubeconfig('second', { namespace: 'team' })].join(delimiter));
  expect(connectCluster({ now: Date.now }).namespace).toBe('team');
});

test.each([
  ['no context', 'clusters: []\n', /broken: has no context "".*kubectl config use-context/],
  ['no YAML', '{', /broken: .*set KUBECONFIG to another one/s],
  [
    'no cluster',
    JSON.stringify({ contexts: [{ name: 'x', context: { cluster: 'c' } }], 'current-context': 'x' }),
    /no cluster "c".*kubectl config set-cluster/,
  ],
])('a kubeconfig with %s is an error that names the file and says what to do', (_what, text, expected) => {
  writeFileSync(join(root, 'broken'), text);
  expect(() => clusterOf(join(root, 'broken'))).toThrow(expected);
});

test('a kubeconfig with a server without TLS, as of kubectl proxy', async () => {
  const plain = await startFakeApiServer();
  closing.push(() => void plain.close());
  expect(await pipelinesOf(kubeconfig('plain', { cluster: { server: plain.url } }))).toMatchObject({ ok: true });
});

test('neither a kubeconfig nor a pod is an error that says what to set', () => {
  mkdirSync(join(root, 'home'));
  vi.stubEnv('KUBECONFIG', '');
  vi.stubEnv('HOME', join(root, 'home'));
  expect(() => connectCluster({ now: Date.now })).toThrow('set KUBECONFIG');
});

test('a refusal carries the status and the message of the API server', async () => {
  api.intercept(() => 403);
  expect(await pipelinesOf(kubeconfig('any'))).toEqual({ ok: false, status: 403, message: 'forced 403' });
});

test('an API server that is silent is a refusal', async () => {
  api.intercept(() => 0);
  const cluster = connectCluster({ now: Date.now, kubeconfig: kubeconfig('any'), silenceMs: 100 });
  const collection = collectionOf(cluster, { kind: 'Pipeline', namespace: null });
  expect(await listAll(collection, new AbortController().signal)).toMatchObject({ ok: false, status: 0 });
});

test('requests share connections, and certificates are read again after a minute', async () => {
  let now = 0;
  const { certFile, keyFile } = makeCertificate(root, 'ops');
  const user = { 'client-certificate': certFile, 'client-key': keyFile };
  const cluster = connectCluster({ now: () => now, kubeconfig: kubeconfig('files', { user }) });
  const list = async () => {
    await listAll(collectionOf(cluster, { kind: 'Pipeline', namespace: null }), new AbortController().signal);
    return api.caller().certificate;
  };
  for (let requests = 0; requests < 20; requests++) expect(await list()).toBe('ops');
  const before = api.connections();
  expect(before).toBeLessThan(5);
  const renewed = makeCertificate(root, 'renewed');
  writeFileSync(certFile, readFileSync(renewed.certFile));
  writeFileSync(keyFile, readFileSync(renewed.keyFile));
  now = 60_000;
  expect([await list(), api.connections()]).toEqual(['renewed', before + 1]);
});
