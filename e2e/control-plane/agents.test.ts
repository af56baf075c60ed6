import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Service } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { createAccounts } from './accounts.ts';
import { flags, metricOf, startController } from './controllers.ts';
import { type FakeGateway, startFakeGateway } from './fake-gateway.ts';
import { markAvailable } from './loopback-pods.ts';
import { type Objects, objectsOf } from './objects.ts';
import { applyKinds, type ControlPlane, startControlPlane } from './start-control-plane.ts';

const PATIENCE = { timeoutMs: 120_000, everyMs: 100 };
const KINDS = ['networkpolicy', 'service', 'deployment'] as const;
const GATEWAY_CONFIG = {
  providers: { demo: { type: 'demo' } },
  mcp_servers: {
    metrics: {
      image: 'metrics:1',
      command: ['node', 'serve.js'],
      args: ['--verbose'],
      port: 9000,
      env: { TOKEN: { secret: { name: 'metrics', key: 'token' } } },
      env_from: [{ configMap: { name: 'levels' }, prefix: 'LEVEL_' }, { secret: { name: 'keys' } }],
      volumes: [
        { mount_path: '/scratch', emptyDir: {} },
        { mount_path: '/etc/metrics', configMap: { name: 'queries', items: [{ key: 'all', path: 'all.yaml' }] } },
        { mount_path: '/run/token', secret: { name: 'token' } },
      ],
      egress: [{ to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 443 }] }],
    },
  },
};

/** Everything about its pods that an Agent may say. */
const PLACED = {
  priorityClassName: 'system-cluster-critical',
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'gpu', operator: 'Exists' }],
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }] } },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
  serviceAccountName: 'triage',
  imagePullSecrets: [{ name: 'registry' }],
  annotations: { note: 'x' },
  labels: { team: 'sre' },
};

let plane: ControlPlane;
let objects: Objects;
let gateway: FakeGateway;
let manager: Service;
let startManager: () => Promise<Service>;
beforeAll(async () => {
  plane = await startControlPlane();
  objects = objectsOf(plane);
  await applyKinds(plane);
  gateway = await startFakeGateway();
  const config = join(plane.scratch, 'gateway.json');
  writeFileSync(config, JSON.stringify(GATEWAY_CONFIG));
  const tenancy = { open: true, namespaces: { shop: { pod_fields: Object.keys(PLACED).slice(1) } } };
  const apiServerConfig = join(plane.scratch, 'api-server.json');
  writeFileSync(apiServerConfig, JSON.stringify({ tenancy }));
  const accounts = await createAccounts(plane);
  const args = flags({
    'gateway-config': config,
    'api-server-config': apiServerConfig,
    'gateway-url': gateway.url,
    'runner-image': 'signalbox:1',
    'gateway-namespace': 'signalbox',
  });
  startManager = () => startController(['manager', ...args], accounts.kubeconfig('manager'));
  manager = await startManager();
}, 600_000);
afterAll(async () => {
  await manager?.stop();
  await gateway?.stop();
  await plane?.stop();
});

interface Child {
  metadata: {
    uid: string;
    resourceVersion: string;
    generation: number;
    labels: Record<string, string>;
    ownerReferences: { uid: string; kind: string; name: string; controller: boolean }[];
    managedFields: { manager: string; operation: string }[];
  };
  spec: {
    replicas: number;
    template: { metadata: object; spec: { containers: { image: string }[]; initContainers: { name: string }[] } };
  };
}
/** Null where it is not there. */
const child = async (kind: string, name: string): Promise<Child | null> => {
  const text = await plane.kubectl([
    'get',
    kind,
    `agent-${name}`,
    '--ignore-not-found',
    '--show-managed-fields',
    '-o',
    'json',
  ]);
  return text === '' ? null : (JSON.parse(text) as Child);
};
const appears = (kind: string, name: string, probe: (child: Child) => boolean = () => true) =>
  waitFor(async () => [await child(kind, name)].find((one) => one && probe(one)), {
    what: `${kind} agent-${name}`,
    ...PATIENCE,
  });
const versions = (name: string) =>
  Promise.all(KINDS.map(async (kind) => (await child(kind, name))?.metadata.resourceVersion));

const SPEC = { model: 'demo/any', soul: 'Be brief.', tools: ['metrics/query'] };
async function apply(name: string, spec: Record<string, unknown> = SPEC): Promise<void> {
  gateway.serve(name, spec);
  await objects.apply('Agent', name, spec);
}

async function becomeAvailable(name: string): Promise<void> {
  const { generation } = (await appears('deployment', name)).metadata;
  await markAvailable(plane, `agent-${name}`, { generation, count: 1 });
}

test('an Agent becomes three objects that are its own, and is Ready with its pods', async () => {
  await apply('triage');
  const { uid } = (await objects.get('Agent', 'triage')).metadata;
  for (const kind of KINDS) {
    const { metadata } = await appears(kind, 'triage');
    expect(metadata.ownerReferences).toMatchObject([{ uid, kind: 'Agent', name: 'triage', controller: true }]);
    expect(metadata.labels['signalbox.dev/agent']).toBe('triage');
    expect(metadata.managedFields.map(({ manager: by, operation }) => `${by} ${operation}`)).toEqual([
      'signalbox-controller Apply',
    ]);
  }
  await objects.becomes('Agent triage', 'Ready', 'False Starting');
  await becomeAvailable('triage');
  await objects.becomes('Agent triage', 'Ready', 'True Ready');
  expect((await objects.get('Agent', 'triage')).status).toMatchObject({
    discoveredTools: [{ server: 'metrics', name: 'query', hash: 'abc' }],
  });
});

test('its pod is admitted where the Pod Security Standard `restricted` is enforced', async () => {
  // Labelled from its first moment: admission may know an older edition of a namespace for a while.
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const strict = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'strict', labels } };
  await plane.kubectl(['create', '-f', '-'], JSON.stringify(strict));
  const { spec } = await appears('deployment', 'triage');
  const pod = (change: object = {}) =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'probe', namespace: 'strict' },
      spec: { ...spec.template.spec, ...change },
    });
  const admit = (manifest: string) => plane.kubectl(['create', '--dry-run=server', '-f', '-'], manifest);
  expect(await admit(pod())).toContain('pod/probe created');
  await expect(admit(pod({ hostNetwork: true }))).rejects.toThrow('violates PodSecurity "restricted');
});

test('a change of what it does rolls the pods, words about it do not', async () => {
  const before = await appears('deployment', 'triage');
  await apply('triage', { ...SPEC, soul: 'Be very brief.' });
  const after = await appears(
    'deployment',
    'triage',
    ({ metadata }) => metadata.generation > before.metadata.generation,
  );
  expect(after.spec.template.metadata).not.toEqual(before.spec.template.metadata);
  await apply('triage', { ...SPEC, soul: 'Be very brief.', description: 'looks at alerts', tags: ['a'] });
  await objects.becomes('Agent triage', 'Synced', 'True Synced');
  expect((await child('deployment', 'triage'))?.metadata.generation).toBe(after.metadata.generation);
});

test('what others change of our fields is set right, and what is not ours is left alone', async () => {
  await plane.kubectl(['set', 'image', 'deployment/agent-triage', 'agent=evil:1']);
  await appears('deployment', 'triage', ({ spec }) => spec.template.spec.containers[0]?.image === 'signalbox:1');
  await plane.kubectl(['delete', 'networkpolicy', 'agent-triage']);
  await appears('networkpolicy', 'triage');
  await plane.kubectl(['scale', 'deployment', 'agent-triage', '--replicas=3']);
  await plane.kubectl(['annotate', 'service', 'agent-triage', 'someone.example/note=x']);
  const changed = await child('deployment', 'triage');
  await apply('triage', { ...SPEC, soul: 'Be as brief as can be.' });
  await appears('deployment', 'triage', ({ metadata }) => metadata.generation > changed!.metadata.generation);
  expect((await child('deployment', 'triage'))?.spec.replicas).toBe(3);
  expect(JSON.stringify(await child('service', 'triage'))).toContain('someone.example/note');
});

test('kubectl scales an Agent, and an autoscaler reads its pods from it', async () => {
  await apply('scaled', { ...SPEC, runtime: { replicas: 1 } });
  await becomeAvailable('scaled');
  await plane.kubectl(['scale', 'agent.signalbox.dev', 'scaled', '--replicas=3']);
  const { metadata } = await appears('deployment', 'scaled', ({ spec }) => spec.replicas === 3);
  await markAvailable(plane, 'agent-scaled', { generation: metadata.generation, count: 3 });
  const path = '/apis/signalbox.dev/v1alpha1/namespaces/default/agents/scaled/scale';
  await expect
    .poll(async () => JSON.parse(await plane.kubectl(['get', '--raw', path])) as object)
    .toMatchObject({
      kind: 'Scale',
      spec: { replicas: 3 },
      status: { replicas: 3, selector: 'signalbox.dev/agent=scaled' },
    });
});

test('pods get what the Agent says of them, and a tenant sets what it has the right to', async () => {
  await apply('placed', { ...SPEC, runtime: PLACED });
  const { annotations, labels, ...pod } = PLACED;
  const { spec } = await appears('deployment', 'placed');
  expect(spec.template).toMatchObject({ metadata: { annotations, labels }, spec: pod });

  await plane.kubectl(['create', 'namespace', 'shop']);
  const inShop = { namespace: 'shop' };
  await objects.apply('Agent', 'tenants', { ...SPEC, runtime: PLACED }, inShop);
  const { message } = await objects.becomes('Agent shop/tenants', 'Accepted', 'False NotAllowed');
  expect(message).toContain('spec.runtime.priorityClassName: namespace "shop" may not set this (pod_fields of');
  expect(message).not.toContain('nodeSelector');
  const deployments = () => plane.kubectl(['get', 'deployments', '-n', 'shop', '-o', 'name']);
  expect(await deployments()).toBe('');
  const { priorityClassName: _, ...allowed } = PLACED;
  await objects.apply('Agent', 'tenants', { ...SPEC, runtime: allowed }, inShop);
  await objects.becomes('Agent shop/tenants', 'Accepted', 'True Accepted');
  await expect.poll(deployments).toContain('agent-tenants');
});

test('a broken edit keeps the pods of what was accepted', async () => {
  const before = await versions('triage');
  await apply('triage', { ...SPEC, temprature: 1 });
  await objects.becomes('Agent triage', 'Ready', 'False Invalid');
  expect(await versions('triage')).toEqual(before);
  await apply('triage');
  await objects.becomes('Agent triage', 'Accepted', 'True Accepted');
});

test('an object of that name that is not ours is never touched', async () => {
  await plane.kubectl(['create', 'service', 'clusterip', 'agent-taken', '--tcp=80:80']);
  const before = await child('service', 'taken');
  await apply('taken');
  const { message } = await objects.becomes('Agent taken', 'Ready', 'False NameTaken');
  expect(message).toContain('Service agent-taken');
  expect(await child('service', 'taken')).toEqual(before);
  expect(await child('deployment', 'taken')).toBeNull();
  await plane.kubectl(['delete', 'service', 'agent-taken']);
  await appears('deployment', 'taken');
  await becomeAvailable('taken');
  await objects.becomes('Agent taken', 'Ready', 'True Ready');
});

test('an Agent that moves into the gateway gives its pods up', async () => {
  await apply('taken', { ...SPEC, tools: [], runtime: { mode: 'process' } });
  await waitFor(
    async () => (await Promise.all(KINDS.map((kind) => child(kind, 'taken')))).every((one) => one === null),
    {
      what: 'nothing to be left',
      ...PATIENCE,
    },
  );
  await objects.becomes('Agent taken', 'Ready', 'True Ready');
});

test('what was made for an Agent that is gone is not taken for that of its successor', async () => {
  const before = await appears('deployment', 'triage');
  await manager.stop();
  await objects.remove('agent', 'triage');
  await apply('triage');
  manager = await startManager();
  const { uid } = (await objects.get('Agent', 'triage')).metadata;
  const after = await appears('deployment', 'triage', ({ metadata }) => metadata.ownerReferences[0]?.uid === uid);
  expect(after.metadata.uid).not.toBe(before.metadata.uid);
  await becomeAvailable('triage');
  await objects.becomes('Agent triage', 'Ready', 'True Ready');
});

test('a restart writes nothing, and takes back nothing that was said', async () => {
  const before = await versions('triage');
  const said = await objects.get('Agent', 'triage');
  await manager.stop();
  manager = await startManager();
  await waitFor(async () => (await metricOf(manager, 'controller_leading')) === 1, { what: 'it to lead', ...PATIENCE });
  await apply('another', { ...SPEC, tools: [] });
  await appears('deployment', 'another');
  expect(await versions('triage')).toEqual(before);
  expect(await objects.get('Agent', 'triage')).toEqual(said);
  const writes = () => metricOf(manager, 'controller_agent_writes_total');
  await waitFor(async () => (await writes()) >= 3, { what: 'what was written to be counted', ...PATIENCE });
  expect(await writes()).toBe(3);
});
