import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeApiServer, startFakeApiServer } from '../testing/fake-api-server.ts';
import { connectCluster } from './cluster.ts';
import type { WatchEvent } from './watch.ts';

let root = '';
let api: FakeApiServer;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'watch-'));
  api = await startFakeApiServer();
  api.apply('Pipeline', 'checkout', { steps: [] });
});
afterEach(async () => {
  await api.close();
  rmSync(root, { recursive: true, force: true });
});

function start(saw: (event: WatchEvent) => void = () => undefined) {
  const { watch } = connectCluster({ now: Date.now, kubeconfig: api.writeKubeconfig(root) });
  const seen: string[] = [];
  const stopping = new AbortController();
  const ended = watch({
    path: '/apis/signalbox.dev/v1alpha1/pipelines',
    query: { resourceVersion: '0' },
    signal: stopping.signal,
    saw: (event) => {
      seen.push(event.type);
      saw(event);
    },
  });
  return { seen, ended, stop: () => stopping.abort() };
}

test('a watch delivers events until its signal', async () => {
  const { seen, ended, stop } = start();
  await expect.poll(() => seen).toEqual(['ADDED']);
  api.apply('Pipeline', 'checkout', { steps: [], description: 'changed' });
  await expect.poll(() => seen).toEqual(['ADDED', 'MODIFIED']);
  stop();
  expect(await ended).toEqual({ ok: true });
});

test('a watch whose signal is aborted before it is open ends', async () => {
  const { ended, stop } = start();
  stop();
  expect(await ended).toEqual({ ok: true });
});

test('an event that breaks off is not delivered, and the watch ends', async () => {
  const { seen, ended } = start();
  await expect.poll(() => seen).toEqual(['ADDED']);
  api.dropWatchesMidEvent();
  await ended;
  expect(seen).toEqual(['ADDED']);
});

test('an error in the receiver of events ends the watch and is reported', async () => {
  const { ended } = start(() => {
    throw new Error('cannot be kept');
  });
  expect(await ended).toEqual({ ok: false, status: 0, message: 'cannot be kept' });
});

test('a watch that is refused says with which status', async () => {
  api.intercept(() => 410);
  expect(await start().ended).toMatchObject({ ok: false, status: 410 });
});
