import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connectCluster } from './kube/cluster.ts';
import { startManager } from './manager.ts';
import type { Role } from './sync.ts';
import { type FakeApiServer, startFakeApiServer } from './testing/fake-api-server.ts';
import { STEP } from './testing/objects.ts';

const steps = [{ name: 'look', ...STEP }];
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const eventually = (check: () => unknown) => vi.waitFor(check, { timeout: 60_000 });

let root = '';
let api: FakeApiServer;
let role: Role | null = null;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'manager-'));
  api = await startFakeApiServer();
});
afterEach(async () => {
  await role?.close();
  role = null;
  await api.close();
  rmSync(root, { recursive: true, force: true });
});

async function start(apiServerUrl: string | null = null): Promise<void> {
  const cluster = connectCluster({ now: Date.now, kubeconfig: api.writeKubeconfig(root) });
  const viewerTokenFile = join(root, 'token');
  writeFileSync(viewerTokenFile, 'viewer\n');
  const urls = { apiServerUrl, gatewayUrl: null, viewerTokenFile, invokeTokenFile: null, caFile: null };
  const rest = {
    serviceConfigs: [],
    hasGatewayConfig: false,
    namespaces: [],
    host: '127.0.0.1',
    port: 0,
    leaderElect: false,
    runner: null,
  };
  role = await startManager({ ...urls, ...rest }, { log: quiet, cluster });
}

const conditionsOf = (kind: string, name: string): Record<string, string> => {
  const status = api.get(kind, name)?.status as
    | { conditions?: { type: string; status: string; reason: string }[] }
    | undefined;
  return Object.fromEntries((status?.conditions ?? []).map((one) => [one.type, `${one.status} ${one.reason}`]));
};

test('every object gets its conditions, once, and nothing is written after', async () => {
  api.apply('Pipeline', 'good', { steps });
  api.apply('Pipeline', 'bad', { steps: [] });
  api.apply('LibraryStep', 'look', STEP);
  await start();
  await eventually(() =>
    expect(conditionsOf('LibraryStep', 'look')).toMatchObject({
      Accepted: 'True Accepted',
      Synced: 'Unknown NotObserved',
    }),
  );
  await eventually(() =>
    expect(conditionsOf('Pipeline', 'bad')).toMatchObject({ Accepted: 'False Invalid', Ready: 'False Invalid' }),
  );
  await eventually(() =>
    expect(api.get('Pipeline', 'good')?.status).toMatchObject({
      observedGeneration: 1,
      lastAccepted: { hash: expect.any(String) as string, gzip: expect.any(String) as string },
    }),
  );
  api.dropWatches();
  api.apply('Pipeline', 'another', { steps });
  await eventually(() => expect(conditionsOf('Pipeline', 'another')).toMatchObject({ Accepted: 'True Accepted' }));
  expect(api.statusWrites()).toBe(4);
});

test('a status that is refused is written in the end, and good objects do not wait for bad ones', async () => {
  let refusals = 0;
  api.intercept((method, path) => (method === 'PATCH' && path.includes('/stuck/') && ++refusals < 3 ? 409 : null));
  api.apply('Pipeline', 'stuck', { steps });
  api.apply('Pipeline', 'free', { steps });
  await start();
  await eventually(() => expect(conditionsOf('Pipeline', 'free')).toMatchObject({ Accepted: 'True Accepted' }));
  await eventually(() => expect(conditionsOf('Pipeline', 'stuck')).toMatchObject({ Accepted: 'True Accepted' }));
  expect(refusals).toBe(3);
});

test('objects that an API server cannot store, of which it says 500, are no outage for the others', async () => {
  const asked: string[] = [];
  api.intercept((method, path) => {
    if (method !== 'PATCH') return null;
    asked.push(path);
    return path.includes('/stuck-') ? 500 : null;
  });
  for (let index = 0; index < 60; index++) api.apply('Pipeline', `stuck-${index}`, { steps });
  api.apply('Pipeline', 'free', { steps });
  await start();
  await eventually(() => expect(conditionsOf('Pipeline', 'free')).toMatchObject({ Accepted: 'True Accepted' }));
  const untilFree = asked.slice(
    0,
    asked.findIndex((path) => path.includes('/free/')),
  );
  expect(new Set(untilFree).size).toBe(untilFree.length);
});

test('Synced and the last run are what the replicas of the service say', async () => {
  let hash = 'another';
  const server = createServer((request, response) => {
    const last_run = { id: 'run-1', status: 'completed', triggered_at: '2026-05-01T10:00:00.000Z' };
    const definitions = [{ kind: 'Pipeline', name: 'good', hash, last_run, verdict: null }];
    response
      .writeHead(request.headers.authorization === 'Bearer viewer' ? 200 : 401)
      .end(JSON.stringify({ definitions, errors: [] }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  try {
    api.apply('Pipeline', 'good', { steps });
    await start(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await eventually(() => expect(conditionsOf('Pipeline', 'good')).toMatchObject({ Synced: 'False OutOfDate' }));
    const status = api.get('Pipeline', 'good')?.status;
    expect(status).toMatchObject({ lastRun: { id: 'run-1', status: 'completed' }, replicas: [{ hash: 'another' }] });
    hash = String(status?.['contentHash']);
    await eventually(() =>
      expect(conditionsOf('Pipeline', 'good')).toMatchObject({ Synced: 'True Synced', Ready: 'True Ready' }),
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
