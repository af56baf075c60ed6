import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connectCluster } from './kube/cluster.ts';
import { type Role, startSync } from './sync.ts';
import { type FakeApiServer, startFakeApiServer } from './testing/fake-api-server.ts';
import { STEP } from './testing/objects.ts';

const steps = [{ name: 'look', ...STEP }];
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 60_000 });

let root = '';
let api: FakeApiServer;
let role: Role | null = null;
let closing: (() => Promise<void>)[] = [];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'sync-'));
  api = await startFakeApiServer();
});
afterEach(async () => {
  await role?.close();
  role = null;
  for (const close of closing) await close();
  closing = [];
  await api.close();
  rmSync(root, { recursive: true, force: true });
});

/** A service that counts its reloads and refuses the first of them. */
async function service(refusals = 0) {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(seen.length > refusals ? 200 : 503).end('{}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closing.push(() => new Promise((resolve) => void server.close(() => resolve())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/reload`, seen };
}

async function start(reloadUrl: string | null): Promise<Role> {
  const tokenFile = join(root, 'token');
  writeFileSync(tokenFile, 'secret-token\n');
  const cluster = connectCluster({ now: Date.now, kubeconfig: api.writeKubeconfig(root) });
  role = await startSync(
    {
      kinds: ['Pipeline', 'LibraryStep'],
      dir: join(root, 'managed'),
      reloadUrl,
      reloadTokenFile: tokenFile,
      serviceConfigs: [],
      namespaces: [],
      host: '127.0.0.1',
      port: 0,
    },
    { log: quiet, cluster },
  );
  return role;
}

const fileOf = (path: string) => join(root, 'managed', path);
const get = async (path: string) => (await fetch(`${role?.url}${path}`)).status;

test('objects become files before it is ready, one reload a batch, with the token', async () => {
  const { url, seen } = await service();
  for (let index = 0; index < 20; index++) api.apply('Pipeline', `p${index}`, { steps });
  await start(url);
  await eventually(async () => expect(await get('/readyz')).toBe(200));
  for (let index = 0; index < 20; index++) expect(existsSync(fileOf(`pipelines/p${index}.yaml`))).toBe(true);
  await eventually(() => expect(seen).toEqual(['Bearer secret-token']));
  expect(await get('/healthz')).toBe(200);
  const metrics = await (await fetch(`${role?.url}/metrics`)).text();
  expect(metrics).toContain('controller_objects{kind="Pipeline",accepted="true"} 20');
});

test('a reload that is refused is tried again', async () => {
  const { url, seen } = await service(2);
  api.apply('Pipeline', 'one', { steps });
  await start(url);
  await eventually(() => expect(seen).toHaveLength(3));
});

test('it is not ready while a kind cannot be listed, and touches nothing', async () => {
  api.apply('Pipeline', 'one', { steps });
  api.intercept((_method, path) => (path.includes('librarysteps') ? 403 : null));
  await start(null);
  await eventually(async () =>
    expect(await metric('controller_watch_restarts_total{kind="LibraryStep",reason="failed"}')).toBeGreaterThan(1),
  );
  expect(await get('/readyz')).toBe(503);
  expect(existsSync(fileOf('pipelines/one.yaml'))).toBe(false);
  api.intercept(() => null);
  await eventually(async () => expect(await get('/readyz')).toBe(200));
  expect(existsSync(fileOf('pipelines/one.yaml'))).toBe(true);
});

const metric = async (series: string): Promise<number> => {
  const text = await (await fetch(`${role?.url}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(series))
      ?.split(' ')
      .at(-1) ?? 0,
  );
};

test('changes and deletions follow through broken watches', async () => {
  api.apply('Pipeline', 'one', { steps });
  api.apply('Pipeline', 'two', { steps });
  await start(null);
  await eventually(() => expect(existsSync(fileOf('pipelines/two.yaml'))).toBe(true));
  api.dropWatches();
  api.apply('Pipeline', 'one', { steps, description: 'changed' });
  await eventually(() => expect(readFileSync(fileOf('pipelines/one.yaml'), 'utf8')).toContain('changed'));
  api.remove('Pipeline', 'two');
  await eventually(() => expect(existsSync(fileOf('pipelines/two.yaml'))).toBe(false));
});

test('an object that breaks leaves its file and the others alone', async () => {
  api.apply('Pipeline', 'one', { steps });
  await start(null);
  await eventually(() => expect(existsSync(fileOf('pipelines/one.yaml'))).toBe(true));
  api.apply('Pipeline', 'one', { steps: [] });
  api.apply('Pipeline', 'two', { steps });
  await eventually(() => expect(existsSync(fileOf('pipelines/two.yaml'))).toBe(true));
  expect(readFileSync(fileOf('pipelines/one.yaml'), 'utf8')).toContain('look');
});
