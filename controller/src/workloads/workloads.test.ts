import { expect, onTestFinished, test } from 'vitest';
import type { ChildCalls } from '../kube/children.ts';
import type { Cluster } from '../kube/cluster.ts';
import { createMetrics } from '../observability/metrics.ts';
import { plan } from '../plan/plan.ts';
import { objectOf } from '../testing/objects.ts';
import { CHILD_APIS, type ChildKind, type KubeObject } from '../objects/child-object.ts';
import type { WorkloadSettings } from './settings.ts';
import { mergeKeys, type RunnerKeyView } from './runner-keys.ts';
import { createWorkloads } from './workloads.ts';

const SETTINGS: WorkloadSettings = {
  image: 'signalbox:1',
  pullPolicy: 'IfNotPresent',
  pullSecrets: [],
  gatewayNamespace: 'signalbox',
  gatewayLabels: { app: 'gateway' },
  imageServers: new Map([['wrong', { image: 'x:1', port: 18_781, path: '/mcp', env: {} }]]),
};
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

interface Asked {
  method: string;
  path: string;
}
/** The error of a refused call, as the client throws it. */
interface Refused {
  statusCode: number;
  message: string;
}
const refused = (statusCode: number, message: string): Refused => ({ statusCode, message });

interface FakeCluster extends Pick<Cluster, 'children' | 'watch'> {
  /** `METHOD last/part/of/path`, in order. */
  requests: string[];
  refuse(rule: (asked: Asked) => Refused | null): void;
}

/** Lists nothing, finds nothing, takes every write. */
function fakeCluster(): FakeCluster {
  const requests: string[] = [];
  let rule: (asked: Asked) => Refused | null = () => null;
  const answer = async <Body>(method: string, path: string, body: Body | Refused): Promise<Body> => {
    requests.push(`${method} ${path}`);
    const refusal = rule({ method, path }) ?? (body as Refused);
    if ('statusCode' in refusal) throw Object.assign(new Error(refusal.message), refusal);
    return body as Body;
  };
  const calls = (kind: ChildKind): ChildCalls => {
    const { plural } = CHILD_APIS[kind];
    const stored = ({ metadata, ...rest }: KubeObject) => ({
      ...rest,
      metadata: { ...metadata, uid: `uid-${kind}-${metadata.name}`, resourceVersion: '5', generation: 1 },
    });
    return {
      list: () => () => answer('LIST', plural, { kind: 'AnyList', metadata: { resourceVersion: '1' }, items: [] }),
      read: ({ name }) => answer('GET', `${plural}/${name}`, refused(404, 'not found')),
      apply: ({ name, body }) => answer('PATCH', `${plural}/${name}`, stored(body)),
      remove: ({ name }) => answer('DELETE', `${plural}/${name}`, {}),
    };
  };
  return {
    requests,
    refuse: (next) => (rule = next),
    children: {
      Deployment: calls('Deployment'),
      Service: calls('Service'),
      NetworkPolicy: calls('NetworkPolicy'),
    },
    watch: async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return { ok: true };
    },
  };
}

const agent = (name: string, spec: Record<string, unknown> = {}) =>
  objectOf({ kind: 'Agent', name, spec: { model: 'demo/any', soul: 'x', ...spec } });

function workloads(options: { settings?: WorkloadSettings | null; keys?: () => string[]; now?: () => number } = {}) {
  const cluster = fakeCluster();
  const stopping = new AbortController();
  const keys = options.keys ?? (() => ['key']);
  const made = createWorkloads({
    cluster,
    settings: options.settings === undefined ? SETTINGS : options.settings,
    namespaces: [],
    askKeys: async () => ({
      asked: true,
      replicas: keys().map((publicKey): RunnerKeyView => ({ pod: 'g', publicKey })),
      failed: [],
    }),
    changed: () => undefined,
    log: quiet,
    metrics: createMetrics(),
    now: options.now ?? Date.now,
    random: () => 0,
  });
  onTestFinished(async () => {
    stopping.abort();
    await made.stop();
  });
  const start = () => {
    void made.watch(stopping.signal);
    made.lead(stopping.signal);
  };
  return { cluster, made, start };
}

test('an agent whose objects are refused says why and keeps no other waiting', async () => {
  const { cluster, made, start } = workloads();
  cluster.refuse(({ method, path }) =>
    method === 'PATCH' && path.includes('agent-stuck') ? refused(403, 'exceeded quota') : null,
  );
  const [stuck, free] = [agent('stuck'), agent('free')];
  made.want(plan([stuck, free], undefined));
  start();
  await expect.poll(() => cluster.requests).toContain('PATCH deployments/agent-free');
  await expect
    .poll(() => made.stateOf(stuck))
    .toEqual({
      status: 'False',
      reason: 'ApplyFailed',
      message: 'NetworkPolicy agent-stuck: exceeded quota',
    });
  expect(made.stateOf(free)).toMatchObject({ status: 'False', reason: 'Starting' });
  cluster.refuse(() => null);
  await expect.poll(() => cluster.requests).toContain('PATCH deployments/agent-stuck');
});

test('what is as it should be is not written again', async () => {
  const { cluster, made, start } = workloads();
  made.want(plan([agent('one')], undefined));
  start();
  await expect.poll(() => cluster.requests).toContain('PATCH deployments/agent-one');
  const before = cluster.requests.length;
  made.want(plan([agent('one'), agent('two')], undefined));
  await expect.poll(() => cluster.requests).toContain('PATCH deployments/agent-two');
  expect(cluster.requests.slice(before).filter((request) => request.endsWith('agent-one'))).toEqual([]);
});

test('no pods are made until a gateway said which key they should trust', async () => {
  let known: string[] = [];
  const { cluster, made, start } = workloads({ keys: () => known });
  const one = agent('one');
  made.want(plan([one], undefined));
  start();
  await expect.poll(() => made.stateOf(one)).toMatchObject({ status: 'Unknown', reason: 'NoRunnerKey' });
  known = ['key'];
  await expect.poll(() => cluster.requests).toContain('PATCH deployments/agent-one');
});

test('tool servers that want one port are told of before anything is made', async () => {
  const { cluster, made, start } = workloads();
  const conflict = agent('conflict', { tools: ['wrong'] });
  made.want(plan([conflict], undefined));
  start();
  await expect.poll(() => made.stateOf(conflict)).toMatchObject({ status: 'False', reason: 'PortConflict' });
  expect(cluster.requests.filter((request) => request.startsWith('PATCH'))).toEqual([]);
});

test('an account that may see no Deployments holds back nothing else for long', async () => {
  let now = 0;
  const { cluster, made, start } = workloads({ now: () => now });
  cluster.refuse(({ path }) => (path === 'deployments' ? refused(403, 'forbidden') : null));
  const one = agent('one');
  made.want(plan([one], undefined));
  start();
  await expect.poll(() => cluster.requests).toContain('LIST deployments');
  expect(made.known()).toBe(false);
  now = 10_000;
  expect(made.known()).toBe(true);
  expect(made.stateOf(one)).toMatchObject({ status: 'Unknown', reason: 'NotObserved' });
});

test('without an image of the runner agents have no pods, and that is no trouble', () => {
  const { cluster, made, start } = workloads({ settings: null });
  const one = agent('one');
  made.want(plan([one], undefined));
  start();
  expect([made.known(), made.stateOf(one), cluster.requests]).toEqual([true, null, []]);
});

test('the key of a gateway that does not answer stays trusted, that of one that is gone does not', () => {
  const said = (...keys: (string | null)[]) => keys.map((publicKey) => ({ pod: 'g', publicKey }));
  const down = [{ pod: 'h', message: 'refused' }];
  expect(mergeKeys(['old'], { asked: true, replicas: said('b', 'a', 'b'), failed: [] })).toEqual(['a', 'b']);
  expect(mergeKeys(['old'], { asked: true, replicas: said('a'), failed: down })).toEqual(['a', 'old']);
  expect(mergeKeys(['old'], { asked: true, replicas: [], failed: down })).toEqual(['old']);
  expect(mergeKeys(['old'], { asked: true, replicas: said(null), failed: [] })).toEqual([]);
});
