import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import { flags, isReady, metricOf, startController } from './controllers.ts';
import { type FakeGateway, startFakeGateway } from './fake-gateway.ts';
import { type Place, placeOf } from './kill-scenario.ts';
import { type KubeClient, kubeClient } from './kube-client.ts';
import { kubeconfigOf } from './kubeconfig.ts';
import { type Objects, objectsOf } from './objects.ts';
import { applyKinds, type ControlPlane, startControlPlane } from './start-control-plane.ts';

/** More places than a role has steps: each kill has its own place, the first is for a role that is not killed. */
const PLACES = Array.from({ length: 90 }, (_, number) => placeOf(number));
const UNHARMED = PLACES[0]!;
/** Some hundred processes are started one after the other. */
const HOUR_MS = 3_600_000;
const GATEWAY_CONFIG = {
  providers: { demo: { type: 'demo' } },
  mcp_servers: { metrics: { image: 'metrics:1', port: 9000 } },
};

let plane: ControlPlane;
let accounts: Accounts;
let objects: Objects;
let client: KubeClient;
let gateway: FakeGateway;
const at = (path: string) => join(plane.scratch, path);

/** Everything is as it is in the beginning, then changed while no controller runs. */
beforeAll(async () => {
  plane = await startControlPlane();
  await applyKinds(plane);
  accounts = await createAccounts(plane);
  objects = objectsOf(plane);
  client = kubeClient(plane);
  gateway = await startFakeGateway();
  writeFileSync(at('gateway.json'), JSON.stringify(GATEWAY_CONFIG));
  const namespaces = PLACES.map(({ namespace: name }) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  await objects.applyAll(namespaces.map((one) => JSON.stringify(one)));
  for (const { name, first } of PLACES.flatMap(({ agents }) => agents)) if (first) gateway.serve(name, first);
  await objects.applyAll(PLACES.flatMap(({ first }) => first));
  await manageUntil(async () => (await states()).every((state) => state.length === 5 + 6 && !state.some(isOpen)));
  await syncTo('before', UNHARMED);
  // A folder that does not exist yet, and leftovers of a killed predecessor.
  rmSync(at('before/steps'), { recursive: true });
  writeFileSync(at('before/pipelines/.0123456789ab.sync-tmp'), 'half a fi');
  for (const { name, then } of PLACES.flatMap(({ agents }) => agents)) gateway.serve(name, then);
  await objects.applyAll(PLACES.flatMap(({ then }) => then));
  await plane.kubectl(['delete', '-f', '-'], PLACES.map(({ gone }) => gone).join('\n---\n'));
}, HOUR_MS);
afterAll(async () => {
  await gateway?.stop();
  client?.close();
  await plane?.stop();
});

const managerFlags = () => ({
  'gateway-config': at('gateway.json'),
  'gateway-url': gateway.url,
  'runner-image': 'signalbox:1',
});

/** An account's kubeconfig whose lease is the place's own. */
function kubeconfigIn({ namespace }: Place): string {
  const { server, caFile } = plane;
  const path = at(`${namespace}.json`);
  writeFileSync(path, kubeconfigOf({ server, caFile, namespace, token: accounts.token('manager') }), { mode: 0o600 });
  return path;
}

/** A manager for all places that is not killed. */
async function manageUntil(isDone: () => Promise<boolean>): Promise<void> {
  const args = ['manager', '--leader-elect=false', ...flags(managerFlags())];
  const manager = await startController(args, accounts.kubeconfig('manager'));
  try {
    await waitFor(isDone, { what: 'all places to be settled', timeoutMs: 240_000, everyMs: 250 });
    expect(await metricOf(manager, 'controller_failures_total')).toBe(0);
  } finally {
    await manager.stop();
  }
}

const syncArgs = (directory: string, { namespace }: Place) => [
  'sync',
  ...flags({
    kinds: 'Pipeline,LibraryStep,Agent',
    dir: at(directory),
    namespaces: namespace,
    'service-config': at('gateway.json'),
  }),
];
async function syncTo(directory: string, place: Place): Promise<void> {
  const sync = await startController(syncArgs(directory, place), accounts.kubeconfig('sync'));
  try {
    await waitFor(() => isReady(sync), { what: 'sync to be ready', timeoutMs: 120_000 });
  } finally {
    await sync.stop();
  }
}

/** Runs a role until its failpoint kills it; false where it finished without reaching the failpoint. */
async function isKilled(
  [args, kubeconfig]: readonly [string[], string],
  failpoint: string,
  isDone: (url: string) => Promise<boolean>,
): Promise<boolean> {
  const env = { SIGNALBOX_FAILPOINT: failpoint };
  const started = await startController(args, kubeconfig, env).catch((error: Error) => {
    if (error.message.includes('SIGKILL')) return null;
    throw error;
  });
  if (started === null) return true;
  const dead = new AbortController();
  const wait = { what: `the work before ${failpoint}`, timeoutMs: 120_000, everyMs: 100, signal: dead.signal };
  const done = waitFor(() => isDone(started.url), wait).catch((error: unknown) => {
    if (!dead.signal.aborted) throw error;
  });
  await Promise.race([started.exited, done]);
  dead.abort();
  return (await started.stop()).signal === 'SIGKILL';
}

/** What a place has in the cluster, without what differs between two that are alike. */
interface State {
  what: string;
  generation?: number;
  told?: number;
  rest: string;
}
const TIMES =
  /"(?:uid|resourceVersion|creationTimestamp|lastTransitionTime|contentHash|agentVersion|hash|time)":"[^"]*",?/g;
const HASHES = /[0-9a-f]{12,64}|10\.0\.0\.\d+/g;

interface Listed {
  kind: string;
  metadata: Record<string, unknown> & { namespace: string; name: string; generation?: number; labels?: object };
  spec: object;
  status?: { observedGeneration?: number };
}
/** The objects of each place. */
async function states(places: readonly Place[] = PLACES): Promise<State[][]> {
  const [only] = places;
  const namespace = places.length === 1 ? `/namespaces/${only?.namespace}` : '';
  const lists = COLLECTIONS.map(async ([kind, api, plural]) => {
    const { body } = await client.send('GET', `/${api}${namespace}/${plural}`);
    return (body as { items: Listed[] }).items.map((item) => ({ ...item, kind }));
  });
  const items = (await Promise.all(lists)).flat();
  return places.map((place) =>
    items.filter(({ metadata }) => metadata.namespace === place.namespace).map((item) => stateOf(item, place.strip)),
  );
}
const COLLECTIONS = [
  ['Pipeline', 'apis/signalbox.dev/v1alpha1', 'pipelines'],
  ['LibraryStep', 'apis/signalbox.dev/v1alpha1', 'librarysteps'],
  ['Agent', 'apis/signalbox.dev/v1alpha1', 'agents'],
  ['Deployment', 'apis/apps/v1', 'deployments'],
  ['NetworkPolicy', 'apis/networking.k8s.io/v1', 'networkpolicies'],
  ['Service', 'api/v1', 'services'],
] as const;
/** The accepted body of a status as what it holds. */
const unpacked = (key: string, value: unknown): unknown =>
  key === 'gzip' ? (JSON.parse(gunzipSync(Buffer.from(String(value), 'base64')).toString()) as unknown) : value;

function stateOf({ kind, metadata, spec, status }: Listed, strip: (text: string) => string): State {
  const { labels, generation } = metadata;
  const isOurs = ['Pipeline', 'LibraryStep', 'Agent'].includes(kind);
  return {
    what: strip(`${kind} ${metadata.name}`),
    rest: strip(JSON.stringify({ labels, spec, status }, unpacked)).replace(TIMES, '').replace(HASHES, ''),
    ...(isOurs ? { generation: generation ?? 0, told: status?.observedGeneration ?? 0 } : {}),
  };
}
/** Its status, or that of its pods, is not final yet; where no pod ever starts the number of pods is final. */
const isOpen = ({ generation, told, rest }: State) =>
  generation !== told || /OutOfDate|NoRunnerKey|being created/.test(rest);

const contents = (directory: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(at(directory), { recursive: true, encoding: 'utf8' })
      .filter((path) => statSync(join(at(directory), path)).isFile())
      .map((path) => [path, readFileSync(join(at(directory), path), 'utf8')]),
  );

test(
  'the manager killed at every step of every request ends where it would have',
  async () => {
    const isSettled = async (place: Place) => {
      const [state = []] = await states([place]);
      const children = state.filter(({ what }) => /^(?:Deployment|Service|NetworkPolicy)/.test(what)).length;
      return children === 6 && /Be very brief/.test(JSON.stringify(state)) && !state.some(isOpen);
    };
    let step = 0;
    for (const place of PLACES.slice(1)) {
      const args = ['manager', ...flags({ ...managerFlags(), namespaces: place.namespace })];
      if (!(await isKilled([args, kubeconfigIn(place)], `api:${++step}`, () => isSettled(place)))) break;
    }
    // 69 where nothing else runs; on a slow machine leases are renewed and lists asked again meanwhile, up to all places.
    expect(step).toBeGreaterThan(40);
    await manageUntil(async () => (await states()).every((state) => state.length === 7 + 6 && !state.some(isOpen)));
    const [unharmed, ...killed] = await states();
    for (const state of killed) expect(state).toEqual(unharmed);
  },
  HOUR_MS,
);

test(
  'sync killed at every step of every request and of every change of a file leaves whole files, and goes on',
  async () => {
    const restore = (name: string) => {
      rmSync(at(name), { recursive: true, force: true });
      cpSync(at('before'), at(name), { recursive: true });
    };
    restore('after');
    await syncTo('after', UNHARMED);
    const [before, after] = [contents('before'), contents('after')];
    const agents = UNHARMED.agents.flatMap(({ name }) => [`agents/${name}/agent.yaml`, `agents/${name}/soul.md`]);
    const pipelines = ['broken', 'edited', 'new'].map((name) => `pipelines/${name}-at-0.yaml`);
    expect(Object.keys(after).toSorted()).toEqual(
      [...agents, 'manifest.json', ...pipelines, 'steps/read-at-0.yaml'].toSorted(),
    );
    const isWhole = ([path, text]: [string, string]) =>
      path.endsWith('.sync-tmp') ||
      (path === 'manifest.json' ? JSON.parse(text) !== null : [before[path], after[path]].includes(text));
    const run = [syncArgs('killed', UNHARMED), accounts.kubeconfig('sync')] as const;
    for (const point of ['api', 'file']) {
      let step = 0;
      for (let killed = true; killed;) {
        restore('killed');
        killed = await isKilled(run, `${point}:${++step}`, (url) => isReady({ url }));
        expect(Object.entries(contents('killed')).filter((file) => !isWhole(file))).toEqual([]);
        if (killed) await syncTo('killed', UNHARMED);
        expect(contents('killed'), `${point}:${step}`).toEqual(after);
      }
      expect(step).toBeGreaterThan(point === 'api' ? 8 : 50);
    }
  },
  HOUR_MS,
);
