import { atOnce } from '@signalbox/crds';
import { expect, test } from 'vitest';
import type { ImageServer } from '../config/image-servers.ts';
import { plan } from '../plan/plan.ts';
import { objectOf } from '../testing/objects.ts';
import { CHECKSUM } from './deployment.ts';
import { APPLIED, type KubeObject } from '../objects/child-object.ts';
import { agentAddresses, placementOf } from '../plan/placement.ts';
import { renderAgent } from './render.ts';
import type { WorkloadSettings } from './settings.ts';

const server = (given: Partial<ImageServer> = {}): ImageServer => ({
  image: 'metrics:1',
  port: 9000,
  path: '/mcp',
  env: {},
  ...given,
});
const SETTINGS: WorkloadSettings = {
  image: 'signalbox:1',
  pullPolicy: 'IfNotPresent',
  pullSecrets: [],
  gatewayNamespace: 'signalbox',
  gatewayLabels: { 'app.kubernetes.io/component': 'gateway' },
  imageServers: new Map([
    ['metrics', server({ env: { LEVEL: 'info', TOKEN: { secret: { name: 'metrics', key: 'token' } } } })],
    [
      'tickets',
      server({ image: 'tickets:2', port: 9001, env: { API_KEY: { secret: { name: 'tickets', key: 'api' } } } }),
    ],
    ['Odd_Name', server({ port: 9002 })],
    ['same-port', server()],
    ['runners-port', server({ port: 18_781 })],
  ]),
};
const KEYS = ['-----BEGIN PUBLIC KEY-----\nA\n-----END PUBLIC KEY-----\n'];
const agent = (spec: Record<string, unknown> = {}, given: Parameters<typeof objectOf>[0] = {}) =>
  objectOf({
    kind: 'Agent',
    name: 'triage',
    namespace: 'team-a',
    spec: { model: 'demo/any', soul: 'x', ...spec },
    ...given,
  });

function rendered(spec: Record<string, unknown> = {}, settings: Partial<WorkloadSettings> = {}, keys = KEYS) {
  const placement = placementOf(plan([agent(spec)], undefined)[0]!);
  if (placement.kind !== 'pods') throw new Error(placement.kind);
  return renderAgent(placement.agent, { ...SETTINGS, ...settings }, keys);
}

interface Pod {
  metadata: { labels: object; annotations: Record<string, string> };
  spec: {
    initContainers: Container[];
    containers: Container[];
    securityContext: object;
    volumes: object[];
    imagePullSecrets?: object[];
    terminationGracePeriodSeconds: number;
    automountServiceAccountToken: boolean;
  };
}
interface Container {
  name: string;
  env: { name: string; value?: string; valueFrom?: object }[];
  [key: string]: unknown;
}

function objects(...input: Parameters<typeof rendered>): Record<string, KubeObject> {
  const result = rendered(...input);
  if (!result.ok) throw new Error(result.message);
  return Object.fromEntries(result.objects.map((object) => [object.kind, object]));
}
const podOf = (...input: Parameters<typeof rendered>) => objects(...input)['Deployment']!.spec['template'] as Pod;

test('everything is named after the object, labelled, owned by it, and the fence comes first', () => {
  const result = rendered();
  expect(result.ok && result.objects.map(({ kind }) => kind)).toEqual(['NetworkPolicy', 'Service', 'Deployment']);
  for (const { metadata } of Object.values(objects()))
    expect(metadata).toMatchObject({
      name: 'agent-triage',
      namespace: 'team-a',
      labels: { 'signalbox.dev/agent': 'triage', 'app.kubernetes.io/managed-by': 'signalbox-controller' },
      ownerReferences: [
        { apiVersion: 'signalbox.dev/v1alpha1', kind: 'Agent', name: 'triage', uid: agent().uid, controller: true },
      ],
    });
});

test('nothing of what a GitOps tool wrote on the Agent is carried on', () => {
  const owner = agent({}, { annotations: { 'argocd.argoproj.io/tracking-id': 'x' } });
  const placement = placementOf(plan([owner], undefined)[0]!);
  if (placement.kind !== 'pods') throw new Error(placement.kind);
  const text = JSON.stringify(renderAgent(placement.agent, SETTINGS, KEYS));
  expect(text).not.toMatch(/argocd|app.kubernetes.io\/instance/);
});

test('the pods pass the Pod Security Standard `restricted`', () => {
  const { spec } = podOf({ tools: ['metrics', 'tickets'] });
  expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  for (const container of [...spec.containers, ...spec.initContainers])
    expect(container['securityContext']).toMatchObject({
      allowPrivilegeEscalation: false,
      privileged: false,
      capabilities: { drop: ['ALL'] },
    });
  expect(spec.automountServiceAccountToken).toBe(false);
  expect(spec.volumes).toEqual([{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }]);
  expect(JSON.stringify(spec)).not.toMatch(/hostPath|hostNetwork|hostPID|hostPort/);
});

test('the runner has probes, resources, a read-only root and no secret', () => {
  const [runner] = podOf({ limits: { timeout_seconds: 120 } }).spec.containers;
  expect(runner).toMatchObject({
    name: 'agent',
    image: 'signalbox:1',
    imagePullPolicy: 'IfNotPresent',
    args: ['agent-runner'],
    ports: [{ name: 'rpc', containerPort: 18_781 }],
    startupProbe: { httpGet: { path: '/health', port: 'rpc' } },
    readinessProbe: { httpGet: { path: '/health', port: 'rpc' } },
    livenessProbe: { httpGet: { path: '/health', port: 'rpc' } },
    resources: { requests: { cpu: expect.any(String) }, limits: { memory: expect.any(String) } },
    securityContext: { readOnlyRootFilesystem: true },
  });
  expect(runner?.env).toEqual([
    { name: 'AGENT_NAME', value: 'triage' },
    { name: 'AGENT_NAMESPACE', value: 'team-a' },
    { name: 'GATEWAY_PUBLIC_KEY', value: KEYS[0] },
    { name: 'RUNNER_PORT', value: '18781' },
    { name: 'RUNNER_DRAIN_SECONDS', value: '120' },
  ]);
});

test('an image server is a native sidecar that holds its own secret, and nobody else does', () => {
  const { initContainers, containers } = podOf({ tools: ['metrics/read*', 'tickets', 'metrics/write'] }).spec;
  expect(initContainers.map(({ name }) => name)).toEqual(['tool-metrics', 'tool-tickets']);
  const [metrics, tickets] = initContainers;
  expect(metrics).toMatchObject({
    image: 'metrics:1',
    restartPolicy: 'Always',
    ports: [{ containerPort: 9000 }],
    startupProbe: { tcpSocket: { port: 9000 } },
    readinessProbe: { tcpSocket: { port: 9000 } },
    livenessProbe: { tcpSocket: { port: 9000 } },
    resources: { limits: { memory: '512Mi' } },
  });
  expect(metrics?.env).toEqual([
    { name: 'LEVEL', value: 'info' },
    { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'metrics', key: 'token' } } },
  ]);
  expect(tickets?.env).toEqual([{ name: 'API_KEY', valueFrom: { secretKeyRef: { name: 'tickets', key: 'api' } } }]);
  expect(JSON.stringify(containers)).not.toContain('secret');
});

test('an image server starts, is configured and mounts as the operator says, and the runner sees none of it', () => {
  const imageServers = new Map([
    [
      'metrics',
      server({
        command: ['node', 'serve.js'],
        args: ['--port', '9000'],
        env_from: [{ configMap: { name: 'levels' } }, { secret: { name: 'keys' }, prefix: 'KEY_' }],
        volumes: [
          { mount_path: '/scratch', emptyDir: { sizeLimit: '1Gi' } },
          { mount_path: '/etc/metrics', configMap: { name: 'queries', items: [{ key: 'all', path: 'all.yaml' }] } },
          { mount_path: '/run/token', secret: { name: 'token' } },
        ],
      }),
    ],
  ]);
  const { initContainers, containers, volumes } = podOf({ tools: ['metrics'] }, { imageServers }).spec;
  expect(initContainers[0]).toMatchObject({
    command: ['node', 'serve.js'],
    args: ['--port', '9000'],
    envFrom: [{ configMapRef: { name: 'levels' } }, { secretRef: { name: 'keys' }, prefix: 'KEY_' }],
    volumeMounts: [
      { name: 'tool-metrics-0', mountPath: '/scratch' },
      { name: 'tool-metrics-1', mountPath: '/etc/metrics', readOnly: true },
      { name: 'tool-metrics-2', mountPath: '/run/token', readOnly: true },
    ],
  });
  expect(volumes).toEqual([
    { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } },
    { name: 'tool-metrics-0', emptyDir: { sizeLimit: '1Gi' } },
    { name: 'tool-metrics-1', configMap: { name: 'queries', items: [{ key: 'all', path: 'all.yaml' }] } },
    { name: 'tool-metrics-2', secret: { secretName: 'token' } },
  ]);
  expect(containers[0]?.['volumeMounts']).toEqual([{ name: 'tmp', mountPath: '/tmp' }]);
  expect(JSON.stringify(containers)).not.toMatch(/levels|keys/);
});

test('a server that lives in the gateway, and one that nobody configured, is no sidecar', () => {
  expect(podOf({ tools: ['elsewhere'] }).spec.initContainers).toEqual([]);
});

test('a server whose name is no label gets one of its own', () => {
  const [sidecar] = podOf({ tools: ['Odd_Name'] }).spec.initContainers;
  expect(sidecar?.name).toMatch(/^tool-odd-name-[0-9a-f]{8}$/);
});

test.each([
  [
    ['metrics', 'same-port'],
    'port 9000 is used by the tool server "metrics" and by the tool server "same-port"; give one of them another port',
  ],
  [
    ['runners-port'],
    'port 18781 is used by the runner and by the tool server "runners-port"; give one of them another port',
  ],
])('tool servers %j cannot share a pod', (tools, message) => {
  expect(rendered({ tools })).toEqual({ ok: false, reason: 'PortConflict', message });
});

test('the Service has an address for each ready pod and none of its own', () => {
  const { spec } = objects()['Service']!;
  expect(spec).toMatchObject({
    clusterIP: 'None',
    selector: { 'signalbox.dev/agent': 'triage' },
    ports: [{ port: 18_781, targetPort: 'rpc' }],
  });
  expect(spec).not.toHaveProperty('publishNotReadyAddresses');
});

test('only the gateway may enter; only a tool server may go out', () => {
  const from = [
    {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'signalbox' } },
      podSelector: { matchLabels: { 'app.kubernetes.io/component': 'gateway' } },
    },
  ];
  const alone = objects()['NetworkPolicy']!.spec;
  expect(alone).toEqual({
    podSelector: { matchLabels: { 'signalbox.dev/agent': 'triage' } },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ from, ports: [{ port: 18_781, protocol: 'TCP' }] }],
  });
  expect(objects({ tools: ['metrics'] })['NetworkPolicy']!.spec['policyTypes']).toEqual(['Ingress']);
});

test('tool servers go where the operator lets them; one without `egress` opens the pod', () => {
  const to443 = { to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 443, protocol: 'TCP' }] };
  const imageServers = new Map([
    ['metrics', server({ egress: [to443] })],
    ['quiet', server({ port: 9001, egress: [] })],
    ['free', server({ port: 9002 })],
  ]);
  const policy = (...tools: string[]) => objects({ tools }, { imageServers })['NetworkPolicy']!.spec;
  expect(policy('metrics', 'quiet')).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
  const [dns, ...others] = policy('metrics', 'quiet')['egress'] as { ports: object[] }[];
  expect(dns?.ports).toEqual([
    { port: 53, protocol: 'UDP' },
    { port: 53, protocol: 'TCP' },
  ]);
  expect(others).toEqual([to443]);
  expect(policy('quiet')).toMatchObject({ policyTypes: ['Ingress', 'Egress'] });
  expect(policy('quiet')).not.toHaveProperty('egress');
  expect(policy('metrics', 'free')['policyTypes']).toEqual(['Ingress']);
});

test('what the agent does, its servers, the image and the key roll the pods; words about it and its number do not', () => {
  const template = (...input: Parameters<typeof rendered>) => JSON.stringify(podOf(...input));
  const before = template({ tools: ['metrics'] });
  const changedServer = new Map([...SETTINGS.imageServers, ['metrics', server({ tools_hash: 'new' })]]);
  const rolls = [
    template({ tools: ['metrics'], soul: 'y' }),
    template({ tools: ['metrics'], model: 'demo/other' }),
    template({ tools: ['metrics', 'tickets'] }),
    template({ tools: ['metrics'] }, { imageServers: changedServer }),
    template({ tools: ['metrics'] }, { image: 'signalbox:2' }),
    template({ tools: ['metrics'] }, {}, [...KEYS, 'another']),
  ];
  expect(new Set([before, ...rolls]).size).toBe(rolls.length + 1);
  expect(template({ tools: ['metrics'], description: 'new', tags: ['a'], runtime: { replicas: 3 } })).toBe(before);
  expect(podOf().metadata.annotations[CHECKSUM]).toMatch(/^[0-9a-f]{12}$/);
});

test('replicas are set where they are asked for, and an autoscaler’s otherwise', () => {
  expect(objects({ runtime: { replicas: 0 } })['Deployment']!.spec['replicas']).toBe(0);
  expect(objects()['Deployment']!.spec).not.toHaveProperty('replicas');
});

test('pods get what the Agent says of them, and keep what decides who may reach them', () => {
  const placing = {
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'gpu', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
    priorityClassName: 'high',
    serviceAccountName: 'triage',
  };
  const labels = { 'app.kubernetes.io/component': 'gateway', 'signalbox.dev/agent': 'other', team: 'sre' };
  const more = {
    labels,
    annotations: { [CHECKSUM]: 'mine', note: 'x' },
    imagePullSecrets: [{ name: 'a' }, { name: 'b' }],
  };
  const { metadata, spec } = podOf({ runtime: { ...placing, ...more } }, { pullSecrets: ['a'] });
  expect(spec).toMatchObject({ ...placing, imagePullSecrets: [{ name: 'a' }, { name: 'b' }] });
  expect(spec.automountServiceAccountToken).toBe(false);
  expect(metadata.labels).toEqual({ team: 'sre', ...podOf().metadata.labels });
  expect(metadata.annotations).toEqual({ note: 'x', ...podOf().metadata.annotations });
});

test('the hash of what is applied covers all of it', () => {
  const hashes = (...input: Parameters<typeof rendered>) =>
    Object.values(objects(...input)).map(({ metadata }) => metadata.annotations[APPLIED]);
  expect(hashes()).toEqual(hashes());
  expect(hashes({ runtime: { replicas: 2 } })).not.toEqual(hashes());
});

test.each([
  ['no limit', {}, 615],
  ['a limit', { limits: { timeout_seconds: 90 } }, 105],
  ['a limit beyond an hour', { limits: { timeout_seconds: 86_400 } }, 3615],
])('a pod of an agent with %s may drain for as long as its runs', (_name, spec, seconds) => {
  expect(podOf(spec).spec.terminationGracePeriodSeconds).toBe(seconds);
});

test('where an agent runs', () => {
  const kindOf = (...input: Parameters<typeof agent>) => placementOf(plan([agent(...input)], undefined)[0]!).kind;
  const accepted = plan([agent()], undefined)[0]!.body!;
  expect(kindOf()).toBe('pods');
  expect(kindOf({ runtime: { mode: 'process' } })).toBe('none');
  expect(kindOf({ model: 7 })).toBe('unknown');
  expect(kindOf({ model: 7 }, { status: { lastAccepted: accepted } })).toBe('pods');
  const younger = agent({}, { namespace: 'team-b', uid: 'younger', createdAt: '2026-02-01T00:00:00Z' });
  expect(plan([agent(), younger], undefined).map((verdict) => placementOf(verdict).kind)).toEqual(['pods', 'none']);
});

test('the manifest names the Service of every agent that has pods, by the name of the definition', () => {
  const verdicts = plan(
    [
      agent({ name: 'Triage_1' }),
      agent({ runtime: { mode: 'process' } }, { name: 'inside' }),
      objectOf({ name: 'pipeline' }),
    ],
    undefined,
  );
  expect(atOnce(agentAddresses(verdicts))).toEqual({ Triage_1: 'agent-triage.team-a.svc:18781' });
});
