import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { type Manifest, pick, refusal, render } from './helm.ts';

const HOST = 'signalbox.example.com';
const INGRESS = { 'apiServer.ingress.enabled': true, 'apiServer.ingress.hosts': [HOST, 'other.example.com'] };
const ROUTE = {
  'apiServer.httpRoute': { enabled: true, parentRefs: [{ name: 'public', namespace: 'gateways' }], hostnames: [HOST] },
};

const kindsOf = (manifests: readonly Manifest[]) => manifests.map(({ kind }) => kind);
const publicUrl = (manifests: readonly Manifest[]): unknown =>
  parse(pick(manifests, 'ConfigMap', 'sb-config').data['api-server.yaml']).server.public_url;

test('by default nothing leads into the cluster and nothing scales', async () => {
  const manifests = await render();
  expect(kindsOf(manifests)).not.toContain('Ingress');
  expect(kindsOf(manifests)).not.toContain('HTTPRoute');
  expect(kindsOf(manifests)).not.toContain('HorizontalPodAutoscaler');
  expect(publicUrl(manifests)).toBeUndefined();
});

test('an Ingress serves every host, and links in messages begin with the first', async () => {
  const manifests = await render({ ...INGRESS, 'apiServer.ingress.className': 'nginx' });
  const { ingressClassName, rules } = pick(manifests, 'Ingress', 'sb-api-server').spec;
  expect(ingressClassName).toBe('nginx');
  expect(rules.map(({ host }: { host: string }) => host)).toEqual([HOST, 'other.example.com']);
  expect(rules[0].http.paths[0]).toMatchObject({
    path: '/',
    backend: { service: { name: 'sb-api-server', port: { name: 'http' } } },
  });
  expect(publicUrl(manifests)).toBe(`http://${HOST}`);
  const tls = { 'apiServer.ingress.tls': [{ hosts: [HOST], secretName: 'tls' }] };
  expect(publicUrl(await render({ ...INGRESS, ...tls }))).toBe(`https://${HOST}`);
  const own = { 'apiServer.config': { server: { public_url: 'https://own.example.com' } } };
  expect(publicUrl(await render({ ...INGRESS, ...own }))).toBe('https://own.example.com');
});

test('an HTTPRoute names the Gateway and the Service', async () => {
  const manifests = await render(ROUTE);
  expect(pick(manifests, 'HTTPRoute', 'sb-api-server').spec).toEqual({
    parentRefs: [{ name: 'public', namespace: 'gateways' }],
    hostnames: [HOST],
    rules: [{ backendRefs: [{ name: 'sb-api-server', port: 8000 }] }],
  });
  expect(publicUrl(manifests)).toBe(`https://${HOST}`);
});

test('an autoscaler replaces the number of replicas', async () => {
  const manifests = await render({
    'database.existingSecret': 'pg',
    'apiServer.autoscaling': { enabled: true, minReplicas: 2, maxReplicas: 5, targetCPUUtilizationPercentage: 70 },
  });
  expect(pick(manifests, 'Deployment', 'sb-api-server').spec).not.toHaveProperty('replicas');
  expect(pick(manifests, 'Deployment', 'sb-gateway').spec.replicas).toBe(1);
  expect(pick(manifests, 'HorizontalPodAutoscaler', 'sb-api-server').spec).toMatchObject({
    scaleTargetRef: { kind: 'Deployment', name: 'sb-api-server' },
    minReplicas: 2,
    maxReplicas: 5,
    metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 70 } } }],
  });
  // Pods that may be several share no volume that is bound to a node.
  expect(pick(manifests, 'Deployment', 'sb-api-server').spec.strategy.type).toBe('RollingUpdate');
});

test.each([
  [{ 'apiServer.autoscaling.enabled': true }, 'apiServer.replicas: more than 1 needs Postgres'],
  [
    { 'gateway.autoscaling.enabled': true, 'gateway.autoscaling.minReplicas': 9 },
    'gateway.autoscaling: minReplicas is more than maxReplicas',
  ],
  [{ 'gateway.autoscaling.enabled': true, 'gateway.persistence.enabled': true }, 'gateway.replicas: more than 1 needs'],
  [{ 'apiServer.ingress.enabled': true }, 'apiServer.ingress.hosts: name at least one host'],
  [{ 'apiServer.httpRoute.enabled': true }, 'apiServer.httpRoute.parentRefs: name the Gateway'],
])('%j is refused before anything is made', async (values, message) => {
  expect(await refusal(values)).toContain(message);
});

test('volumes of the operator’s own are mounted beside the chart’s', async () => {
  const manifests = await render({
    'gateway.extraVolumes': [{ name: 'ca', configMap: { name: 'house-ca' } }],
    'gateway.extraVolumeMounts': [{ name: 'ca', mountPath: '/ca', readOnly: true }],
  });
  const { volumes, containers } = pick(manifests, 'Deployment', 'sb-gateway').spec.template.spec;
  expect(volumes).toContainEqual({ name: 'ca', configMap: { name: 'house-ca' } });
  expect(containers[0].volumeMounts).toContainEqual({ name: 'ca', mountPath: '/ca', readOnly: true });
});

test('clients of the gateway are let in beside Signalbox itself', async () => {
  const editor = { namespaceSelector: {}, podSelector: { matchLabels: { app: 'editor' } } };
  const { ingress } = pick(await render({ 'networkPolicy.clients': [editor] }), 'NetworkPolicy', 'sb-gateway').spec;
  expect(ingress[0].from).toContainEqual(editor);
});

test('pods spread as the operator says', async () => {
  const spread = [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }];
  const manifests = await render({ 'apiServer.topologySpreadConstraints': spread });
  expect(pick(manifests, 'Deployment', 'sb-api-server').spec.template.spec.topologySpreadConstraints).toEqual(spread);
});
