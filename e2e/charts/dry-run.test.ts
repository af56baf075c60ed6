import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../control-plane/start-control-plane.ts';
import { ROOT } from '../support/start-service.ts';
import { type Manifest, render, type Values } from './helm.ts';

let plane: ControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
  await plane.kubectl(['create', 'namespace', 'ops']);
  await plane.kubectl(['label', 'namespace', 'ops', 'pod-security.kubernetes.io/warn=restricted']);
  for (const name of ['team-a', 'team-b']) await plane.kubectl(['create', 'namespace', name]);
});
afterAll(() => plane.stop());

/** Kinds of operators that a bare API server does not know. */
const isKnown = ({ apiVersion }: Manifest) =>
  !/^(?:monitoring\.coreos\.com|gateway\.networking\.k8s\.io)\//.test(apiVersion);

const TABLE: [string, Values][] = [
  ['the defaults', {}],
  ['named namespaces', { watchNamespaces: ['team-a', 'team-b'] }],
  [
    'Postgres, several replicas, a Secret of one’s own',
    {
      'apiServer.replicas': 2,
      'gateway.replicas': 3,
      'database.existingSecret': 'pg',
      'auth.existingSecret': 'mine',
    },
  ],
  ['volumes', { 'gateway.persistence.enabled': true, 'apiServer.persistence.storageClass': 'fast' }],
  [
    'no volume, no policy, dashboards',
    {
      'apiServer.persistence.enabled': false,
      'networkPolicy.enabled': false,
      'monitoring.dashboards.enabled': true,
    },
  ],
  [
    'every list and map',
    {
      imagePullSecrets: [{ name: 'registry' }],
      'apiServer.env': [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }],
      'apiServer.envFrom': [{ secretRef: { name: 's' } }],
      'gateway.podLabels': { team: 'sre' },
      'gateway.podAnnotations': { note: 'x' },
      'controller.tolerations': [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
      'controller.nodeSelector': { disk: 'ssd' },
      'apiServer.affinity': { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
      'apiServer.service': { type: 'LoadBalancer', annotations: { a: 'b' } },
      'networkPolicy.apiServerFrom': [{ namespaceSelector: {} }],
      'networkPolicy.metricsFrom': [],
      'networkPolicy.clients': [{ podSelector: { matchLabels: { app: 'editor' } } }],
      'apiServer.topologySpreadConstraints': [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} },
      ],
      'apiServer.extraVolumes': [{ name: 'ca', configMap: { name: 'ca' } }],
      'apiServer.extraVolumeMounts': [{ name: 'ca', mountPath: '/ca', readOnly: true }],
      'apiServer.ingress': {
        enabled: true,
        className: 'public',
        annotations: { a: 'b' },
        hosts: ['signalbox.example.com'],
        tls: [{ hosts: ['signalbox.example.com'], secretName: 'tls' }],
      },
      'gateway.autoscaling.enabled': true,
      'tls.enabled': true,
      'tls.existingSecret': 'tls',
    },
  ],
];

test('a real API server takes the sample of an autoscaler', async () => {
  const args = ['apply', '--dry-run=server', '--validate=strict', '--warnings-as-errors', '-n', 'ops', '-f'];
  expect(await plane.kubectl([...args, join(ROOT, 'config/autoscaling/hpa.yaml')])).toContain('agent-node-reader');
});

test.each(TABLE)(
  'a real API server takes every object as it is written, without a warning: %s',
  async (_what, values) => {
    const manifests = (await render(values)).filter(isKnown);
    const list = { apiVersion: 'v1', kind: 'List', items: manifests };
    const args = ['apply', '--dry-run=server', '--validate=strict', '--warnings-as-errors', '-f', '-'];
    const answer = await plane.kubectl(args, JSON.stringify(list));
    expect(answer.trim().split('\n')).toHaveLength(manifests.length);
  },
);

test('the kinds of their chart are those of config/crd', async () => {
  const kinds = await render({}, 'signalbox-crds');
  await plane.kubectl(
    ['apply', '--server-side', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: kinds }),
  );
  const diff = await plane
    .kubectl(['diff', '--server-side', '-k', 'config/crd'])
    .catch((error: unknown) => String(error));
  expect(diff).toBe('');
});
