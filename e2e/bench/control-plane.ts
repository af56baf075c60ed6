import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createAccounts } from '../control-plane/accounts.ts';
import { controlPlaneAssets } from '../control-plane/assets.ts';
import { flags, isReady, metricOf } from '../control-plane/controllers.ts';
import { startReloadCounter } from '../control-plane/reload-counter.ts';
import { type KubeClient, kubeClient, pathOf, samplePipeline } from '../control-plane/kube-client.ts';
import { applyKinds, type ControlPlane, startControlPlane } from '../control-plane/start-control-plane.ts';
import { buildBundle, startBundledController } from '../support/bundled.ts';
import { ROOT, type Service } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Benchmark, Figure } from './benchmark.ts';
import { HttpConnection } from './http-connection.ts';
import { startMeasured } from './process.ts';
import { cpuMilliseconds, residentMegabytes, WEBHOOK_TOKEN, writeApiServerConfig } from './services.ts';

const FEW = 1000;
const MANY = 5000;
const CHANGES = 60;
/** The manager's own limit for writes of statuses: at the same time, and a second. */
const AT_ONCE = 24;
const A_SECOND = 300;
const ADMIN_TOKEN = 'bench-admin-00000000000000000000000000';
/** Long enough for the last collection after the work. */
const SETTLE_MS = 6000;
const IDLE_SECONDS = 15;

/** Said beside each time: others may use the machine. */
const load = () => `load ${(loadavg()[0] ?? 0).toFixed(1)}`;

/** From objects in a real API server to files and pipelines that run. */
export const controlPlane: Benchmark = {
  name: 'control-plane',
  about: `the controller of the image's bundle with ${FEW.toLocaleString('en')} and ${MANY.toLocaleString('en')} objects in a real kube-apiserver`,
  async run({ directory, gateway, progress }) {
    if (controlPlaneAssets() === null)
      return { leftOut: 'needs kube-apiserver, etcd and kubectl in KUBEBUILDER_ASSETS' };
    if (process.platform !== 'linux') return { leftOut: 'reads /proc, which is Linux only' };
    const plane = await startControlPlane();
    const client = kubeClient(plane);
    try {
      await applyKinds(plane);
      const dist = join(directory, 'dist');
      buildBundle(dist);
      progress('the controller runs from the bundle that was just built, as in the image');
      const accounts = await createAccounts(plane);
      const start: Place['start'] = (role, args) =>
        startBundledController(dist, [role, ...args], accounts.kubeconfig(role));
      const place: Place = { plane, client, directory, progress, start };
      await client.createAll(samples(0, FEW));
      const few = await measureSync(place, FEW, { first: 2, again: 1.5 });
      const latency = await measureLatency(place, gateway.url);
      await client.createAll(samples(FEW, MANY));
      const many = await measureSync(place, MANY, { first: 8, again: 5 });
      return [...latency, ...few, ...many, ...(await measureManager(place)), await measureFloor(place)];
    } finally {
      client.close();
      await plane.stop();
    }
  },
};

interface Place {
  plane: ControlPlane;
  client: KubeClient;
  directory: string;
  progress(text: string): void;
  start(role: 'sync' | 'manager', args: readonly string[]): Promise<Service>;
}

const samples = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => samplePipeline(`bench-${from + index}`));

/** A first start into an empty directory, a second one with nothing changed. */
async function measureSync(
  { directory, progress, start: startRole }: Place,
  count: number,
  seconds: { first: number; again: number },
): Promise<Figure[]> {
  const counter = await startReloadCounter();
  const args = flags({ kinds: 'Pipeline,LibraryStep', dir: join(directory, `files-${count}`) });
  const start = async () => {
    const begun = performance.now();
    const sync = await startRole('sync', [...args, '--reload-url', counter.url]);
    await waitFor(() => isReady(sync), { what: 'the first sync', timeoutMs: 120_000, everyMs: 20 });
    const took = (performance.now() - begun) / 1000;
    return { sync, took, detail: `${(cpuMilliseconds(sync.pid) / 1000).toFixed(2)} s of CPU, ${load()}` };
  };
  const first = await start();
  await wait(SETTLE_MS);
  const reloads = counter.seen();
  const written = await metricOf(first.sync, 'controller_files_written_total');
  const megabytes = residentMegabytes(first.sync.pid);
  await first.sync.stop();
  const second = await start();
  const rewritten = await metricOf(second.sync, 'controller_files_written_total');
  await wait(SETTLE_MS);
  const again = residentMegabytes(second.sync.pid);
  await second.sync.stop();
  await counter.stop();
  const what = `sync of ${count.toLocaleString('en')} objects`;
  progress(`${what}: ${first.took.toFixed(2)} s, again ${second.took.toFixed(2)} s, ${again.toFixed(0)} MB`);
  const memory: Figure = {
    what: `${what}, memory (RSS)`,
    value: again,
    unit: 'MB',
    detail: `${megabytes.toFixed(0)} MB in the process that wrote all files`,
  };
  return [
    {
      what: `first ${what}, from the start of the process`,
      value: first.took,
      unit: 's',
      limit: { direction: 'most', bound: seconds.first },
      detail: `${written} files, ${first.detail}`,
    },
    {
      what: `restarted ${what} with nothing to write, from the start of the process`,
      value: second.took,
      unit: 's',
      limit: { direction: 'most', bound: seconds.again },
      detail: second.detail,
    },
    { what: `first ${what}, reloads`, value: reloads, unit: '', limit: { direction: 'exactly', bound: 1 } },
    {
      what: `restarted ${what}, files rewritten`,
      value: rewritten,
      unit: '',
      limit: { direction: 'exactly', bound: 0 },
    },
    count === FEW ? { ...memory, limit: { direction: 'most', bound: 130 } } : memory,
  ];
}

/** From the request that creates an object to the first webhook that finds its pipeline. */
async function measureLatency(place: Place, gatewayUrl: string): Promise<Figure[]> {
  const { client, directory, progress } = place;
  const managed = join(directory, 'managed');
  for (const folder of ['pipelines', 'steps']) mkdirSync(join(managed, folder), { recursive: true });
  const config = managedConfig(directory, gatewayUrl, managed);
  const args = [join(ROOT, 'api-server', 'start.mjs'), '--config', config];
  const service = await startMeasured({ name: 'api-server', args, logFile: join(directory, 'api-server.log') });
  writeFileSync(join(directory, 'admin-token'), ADMIN_TOKEN);
  const sync = await place.start('sync', [
    ...flags({ kinds: 'Pipeline,LibraryStep', dir: managed, 'reload-url': `${service.url}/reload` }),
    ...flags({ 'reload-token-file': join(directory, 'admin-token') }),
  ]);
  const hook = await HttpConnection.open(`${service.url}/webhook?source=generic`, WEBHOOK_TOKEN);
  try {
    await waitFor(() => isReady(sync), { what: 'the first sync', timeoutMs: 60_000 });
    const finds = async (pipeline: string) =>
      (await hook.post(JSON.stringify({ pipeline, summary: 'it is slow' }))).status === 202;
    await waitFor(() => finds('bench-0'), { what: 'the first reload', timeoutMs: 60_000 });
    await wait(SETTLE_MS);
    const times: number[] = [];
    for (let index = 0; index < CHANGES; index++) {
      const name = `fresh-${index}`;
      const begun = performance.now();
      await client.send('POST', pathOf('pipelines'), samplePipeline(name));
      await waitFor(() => finds(name), { what: `${name} to be usable`, timeoutMs: 30_000, everyMs: 4 });
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN;
    progress(`object to pipeline: p50 ${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms`);
    const loaded = `${FEW.toLocaleString('en')} objects loaded, ${CHANGES} created one after the other, ${load()}`;
    return [
      {
        what: 'object applied to usable by a webhook, p50',
        value: at(0.5),
        unit: 'ms',
        limit: { direction: 'most', bound: 100 },
        detail: loaded,
      },
      {
        what: 'object applied to usable by a webhook, p99',
        value: at(0.99),
        unit: 'ms',
        limit: { direction: 'most', bound: 1000 },
        detail: loaded,
      },
    ];
  } finally {
    hook.close();
    await sync.stop();
    await service.stop();
  }
}

function managedConfig(directory: string, gatewayUrl: string, managed: string): string {
  const path = writeApiServerConfig(directory, gatewayUrl);
  const config = JSON.parse(readFileSync(path, 'utf8')) as { managed_dir?: string; auth: { tokens: object[] } };
  config.managed_dir = managed;
  config.auth.tokens.push({ name: 'sync', token: ADMIN_TOKEN, role: 'admin' });
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** Every status written once, then silence. */
async function measureManager({ plane, progress, start }: Place): Promise<Figure[]> {
  const manager = await start('manager', []);
  try {
    const begun = performance.now();
    const written = () => metricOf(manager, 'controller_status_writes_total{outcome="done"}');
    await waitFor(async () => (await written()) >= MANY, { what: 'all statuses', timeoutMs: 300_000, everyMs: 500 });
    const seconds = (performance.now() - begun) / 1000;
    const cpu = cpuMilliseconds(manager.pid);
    const loadThen = load();
    await wait(SETTLE_MS * 4);
    const before = await writesOf(plane);
    await wait(IDLE_SECONDS * 1000);
    const writes = (await writesOf(plane)) - before;
    const megabytes = residentMegabytes(manager.pid);
    progress(`manager: ${seconds.toFixed(1)} s to write all statuses, ${megabytes.toFixed(0)} MB`);
    const objects = `manager of ${MANY.toLocaleString('en')} objects`;
    return [
      {
        what: `${objects}, all statuses written`,
        value: seconds,
        unit: 's',
        limit: { direction: 'most', bound: 20 },
        detail: `${(cpu / MANY).toFixed(1)} ms of CPU a status, with the start; ${AT_ONCE} at once, at most ${A_SECOND} a second, ${loadThen}`,
      },
      { what: `${objects}, memory (RSS)`, value: megabytes, unit: 'MB', limit: { direction: 'most', bound: 220 } },
      {
        what: `idle for ${IDLE_SECONDS} s, writes to the API server except the lease`,
        value: writes,
        unit: '',
        limit: { direction: 'exactly', bound: 0 },
      },
    ];
  } finally {
    await manager.stop();
  }
}

/** The same statuses as bare requests, as fast as the API server takes them: no controller writes them sooner. */
async function measureFloor({ client }: Place): Promise<Figure> {
  const { body } = await client.send('GET', pathOf('pipelines'));
  const { items } = body as { items: { metadata: { name: string }; status: object }[] };
  const waiting = items.slice(0, MANY).values();
  const begun = performance.now();
  const work = async () => {
    for (const { metadata, status } of waiting) {
      const changed = { status: { ...status, stage: 'floor' } };
      const answer = await client.send('PATCH', `${pathOf('pipelines', metadata.name)}/status`, changed);
      if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return {
    what: `${MANY.toLocaleString('en')} bare status patches, ${AT_ONCE} at once`,
    value: (performance.now() - begun) / 1000,
    unit: 's',
    detail: `the floor of this API server; ${(MANY / A_SECOND).toFixed(1)} s by the limit alone, ${load()}`,
  };
}

/** Requests that changed our objects or made events, as the API server counts them. */
async function writesOf({ kubectl }: ControlPlane): Promise<number> {
  const lines = (await kubectl(['get', '--raw', '/metrics'])).split('\n');
  return lines
    .filter((line) => line.startsWith('apiserver_request_total{'))
    .filter((line) => /resource="(pipelines|librarysteps|agents|events)"/.test(line))
    .filter((line) => /verb="(POST|PUT|PATCH|APPLY|DELETE)"/.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
