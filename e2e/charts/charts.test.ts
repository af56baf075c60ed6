import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { expandEnv } from '@signalbox/crds/process/settings';
import { ConfigFile } from '../../api-server/src/config/schema.ts';
import { parseConfig } from '../../gateway/src/config/load.ts';
import { helm, type Manifest, pick, refusal, render, renderText, type Values } from './helm.ts';
import { OPERATOR_KINDS } from './prometheus-operator.ts';

const EVERYTHING = {
  'apiServer.replicas': 2,
  'database.existingSecret': 'postgres',
  'auth.existingSecret': 'mine',
  watchNamespaces: ['team-a', 'team-b'],
  imagePullSecrets: [{ name: 'registry' }],
  'apiServer.env': [{ name: 'A', value: 'b' }],
  'gateway.envFrom': [{ secretRef: { name: 'keys' } }],
  'gateway.replicas': 2,
  'gateway.tolerations': [{ key: 'x', operator: 'Exists' }],
  'controller.nodeSelector': { disk: 'ssd' },
  'monitoring.serviceMonitor.enabled': true,
  'monitoring.prometheusRule.enabled': true,
  'monitoring.dashboards.enabled': true,
  'monitoring.alertmanagerConfig.enabled': true,
};

const named = (manifests: readonly Manifest[]) => manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
const container = (deployment: Manifest, name: string) =>
  [...deployment.spec.template.spec.containers, ...(deployment.spec.template.spec.initContainers ?? [])].find(
    (one: { name: string }) => one.name === name,
  );
const configFile = (manifests: readonly Manifest[], file: string): unknown =>
  parse(pick(manifests, 'ConfigMap', 'sb-config').data[file]);

test('both charts pass helm lint, also with everything turned on', async () => {
  await helm('lint', '--strict', 'charts/signalbox-crds');
  await helm('lint', '--strict', 'charts/signalbox');
  const settings = Object.entries(EVERYTHING).flatMap(([key, value]) => [
    '--set-json',
    `${key}=${JSON.stringify(value)}`,
  ]);
  await helm('lint', '--strict', 'charts/signalbox', ...settings);
});

test.each([
  ['gateway', "at '': missing property 'gateway'"],
  ['gateway.config', "at '/gateway': missing property 'config'"],
  ['apiServer.persistence', "at '/apiServer': missing property 'persistence'"],
  ['monitoring.dashboards', "at '/monitoring': missing property 'dashboards'"],
  ['auth', "missing property 'auth'"],
])('a block that was left empty, such as %s, is refused by its name', async (key, message) => {
  expect(await refusal({ [key]: null })).toContain(message);
});

test('what may be empty may', async () => {
  const empty = [
    'gateway.resources',
    'networkPolicy.metricsFrom',
    'networkPolicy.apiServerFrom',
    'gateway.env',
    'image.tag',
  ];
  const manifests = await render(Object.fromEntries(empty.map((key) => [key, null])));
  expect(pick(manifests, 'NetworkPolicy', 'sb-gateway').spec.ingress).toHaveLength(1);
});

test('a gateway is given as long to end as its runs may take', async () => {
  const graceOf = async (values: Values) =>
    pick(await render(values), 'Deployment', 'sb-gateway').spec.template.spec.terminationGracePeriodSeconds as number;
  expect(await graceOf({})).toBe(60);
  expect(await graceOf({ 'gateway.config.server': { drain_seconds: 300 } })).toBe(335);
});

test('the pods of hooks go where the controller goes', async () => {
  const tolerations = [{ key: 'dedicated', operator: 'Exists' }];
  const nodeSelector = { disk: 'ssd' };
  const manifests = await render({ 'controller.tolerations': tolerations, 'controller.nodeSelector': nodeSelector });
  const specs = [pick(manifests, 'Job', 'sb-tokens').spec.template.spec, pick(manifests, 'Pod', 'sb-test').spec];
  for (const spec of specs) expect(spec).toMatchObject({ tolerations, nodeSelector });
});

test('two renders are the same, to the byte', async () => {
  expect(await renderText(EVERYTHING)).toBe(await renderText(EVERYTHING));
});

test('the names that others rely on', async () => {
  const manifests = await render();
  const names = named(manifests);
  for (const part of ['api-server', 'gateway', 'controller']) expect(names).toContain(`Deployment sb-${part}`);
  expect(pick(manifests, 'Service', 'sb-api-server').spec.ports[0].port).toBe(8000);
  expect(pick(manifests, 'Service', 'sb-gateway').spec.ports[0].port).toBe(18_780);
  expect(names).toContain('PersistentVolumeClaim sb-api-server');
  // The Secret is the Job's, so that it stays and no template has to make up a token.
  expect(names.filter((name) => name.startsWith('Secret '))).toEqual([]);
  const job = pick(manifests, 'Job', 'sb-tokens');
  expect(job.metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade');
  expect(manifests.every(({ metadata, kind }) => kind.startsWith('Cluster') || metadata.namespace === 'ops')).toBe(
    true,
  );
});

test('the kinds stay when their chart goes', async () => {
  const kinds = await render({}, 'signalbox-crds');
  expect(named(kinds).toSorted()).toEqual([
    'CustomResourceDefinition agents.signalbox.dev',
    'CustomResourceDefinition librarysteps.signalbox.dev',
    'CustomResourceDefinition pipelines.signalbox.dev',
  ]);
  for (const { metadata } of kinds) expect(metadata.annotations?.['helm.sh/resource-policy']).toBe('keep');
});

test('the services accept the configuration that the chart gives them', async () => {
  for (const values of [{}, EVERYTHING]) {
    const manifests = await render(values);
    const env = container(pick(manifests, 'Deployment', 'sb-api-server'), 'api-server').env as { name: string }[];
    const environment = Object.fromEntries(env.map(({ name }) => [name, `postgres://${name.toLowerCase()}`]));
    const file = ConfigFile.safeParse(expandEnv(configFile(manifests, 'api-server.yaml'), environment));
    expect(file.error).toBeUndefined();
    expect(file.data?.auth?.tokens?.every(({ token }) => token !== '')).toBe(true);
    const gateway = configFile(manifests, 'gateway.yaml') as object;
    const parsed = parseConfig(JSON.stringify({ ...gateway, managed_dir: '/tmp' }), '/', {});
    expect(parsed).toMatchObject({ ok: true, config: { runtime: { mode: 'kubernetes' } } });
  }
});

test('the configuration of values lies over that of the chart: false and 0 win, null takes away, lists replace', async () => {
  const manifests = await render({
    'apiServer.config': {
      dedup: { enabled: false, window_seconds: 0 },
      artifacts: null,
      concurrency: { max_runs: 3 },
      auth: { tokens: [{ name: 'only', role: 'admin', token: '${A}' }] },
      notifications: { slack: { channel: '{{ not helm }}' } },
    },
    'gateway.config': { mcp_servers: { machine: null, far: { url: 'http://tools:1/mcp' } } },
  });
  const apiServer = configFile(manifests, 'api-server.yaml') as Record<string, any>; // oxlint-disable-line typescript/no-explicit-any
  expect(apiServer['dedup']).toEqual({ enabled: false, window_seconds: 0 });
  expect(apiServer).not.toHaveProperty('artifacts');
  expect(apiServer['concurrency']).toEqual({ on_full: 'queue', max_runs: 3 });
  expect(apiServer['auth'].tokens).toHaveLength(1);
  expect(apiServer['auth'].session_secret).toBe('${SIGNALBOX_SESSION_SECRET}');
  expect(apiServer['notifications'].slack.channel).toBe('{{ not helm }}');
  expect(configFile(manifests, 'gateway.yaml')).toMatchObject({ mcp_servers: { far: { url: 'http://tools:1/mcp' } } });
  expect(configFile(manifests, 'gateway.yaml')).not.toHaveProperty('mcp_servers.machine');
});

test('agents call no tool that the operator does not allow, and tools that change are warned of', async () => {
  const gateway = configFile(await render({}), 'gateway.yaml');
  expect(gateway).toMatchObject({
    tool_policy: { default: 'deny', rules: [{ allow: { server: 'machine' } }] },
    tool_pinning: 'warn',
  });
});

test('a change of the configuration rolls the pods, a change of nothing does not', async () => {
  const checksum = async (values: object) =>
    pick(await render({ ...values }), 'Deployment', 'sb-gateway').spec.template.metadata.annotations['checksum/config'];
  expect(await checksum({})).toBe(await checksum({ 'apiServer.podDisruptionBudget.enabled': false }));
  expect(await checksum({})).not.toBe(await checksum({ 'gateway.config': { limits: { max_concurrent_runs: 3 } } }));
});

test.each([
  ['a key that does not exist', { gatway: {} }, 'gatway'],
  ['a key of a part', { 'apiServer.replica': 1 }, 'replica'],
  ['a key of a service’s configuration', { 'apiServer.config': { concurency: {} } }, 'concurency'],
  ['a key deep in a service’s configuration', { 'gateway.config': { limits: { max_runs: 1 } } }, 'max_runs'],
  ['a value of a service’s configuration', { 'gateway.config': { tool_policy: { default: 'maybe' } } }, 'default'],
  ['a number as text', { 'gateway.replicas': 'two' }, 'replicas'],
  ['a size without a unit that exists', { 'apiServer.persistence.size': '5 gigs' }, 'size'],
  ['a pull policy', { 'image.pullPolicy': 'Sometimes' }, 'pullPolicy'],
  ['several replicas on the embedded database', { 'apiServer.replicas': 2 }, 'needs Postgres'],
  ['several gateways on one volume', { 'gateway.replicas': 2, 'gateway.persistence.enabled': true }, 'existingClaim'],
  ['another port', { 'apiServer.config': { server: { port: 9 } } }, 'apiServer.config.server.port'],
  ['TLS inside', { 'gateway.config': { server: { tls: { cert: 'a', key: 'b' } } } }, 'for TLS see tls.enabled'],
])('refused before anything is made: %s', async (_what, values, named) => {
  expect(await refusal(values)).toContain(named);
});

test.each([
  ['several replicas on Postgres', { 'apiServer.replicas': 2, 'database.existingSecret': 'pg' }],
  [
    'placeholders in a configuration',
    { 'gateway.config': { providers: { a: { type: 'anthropic', api_key: '${K}' } } } },
  ],
  ['no volume', { 'apiServer.persistence.enabled': false }],
  ['a token Secret of one’s own', { 'auth.existingSecret': 'mine' }],
])('taken: %s', async (_what, values) => {
  expect(await refusal(values)).toBe('');
});

test('every pod keeps to the restricted standard, with a read-only root and limits', async () => {
  const pods = [...(await render()), ...(await render(EVERYTHING))].flatMap((manifest) => {
    if (manifest.kind === 'Pod') return [manifest.spec];
    return ['Deployment', 'Job'].includes(manifest.kind) ? [manifest.spec.template.spec] : [];
  });
  expect(pods).toHaveLength(9);
  for (const pod of pods) {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(pod.automountServiceAccountToken).toBe(false);
    for (const one of [...pod.containers, ...(pod.initContainers ?? [])]) {
      expect(one.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(one.resources.limits.memory).toBeDefined();
      expect(one.resources.requests).toHaveProperty('cpu');
    }
  }
});

test.each(['api-server', 'gateway'])('the %s knows the name of its pod', async (part) => {
  const manifests = await render();
  const { env } = container(pick(manifests, 'Deployment', `sb-${part}`), part) as { env: object[] };
  expect(env).toContainEqual({ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } });
  expect(configFile(manifests, `${part}.yaml`)).toMatchObject({ server: { pod_name: '${POD_NAME}' } });
});

test('a service has no account of Kubernetes, its sidecar has; the sidecar is native and waited for', async () => {
  const manifests = await render();
  for (const part of ['api-server', 'gateway']) {
    const deployment = pick(manifests, 'Deployment', `sb-${part}`);
    const mounts = (name: string) =>
      container(deployment, name).volumeMounts.map((mount: { name: string }) => mount.name);
    expect(mounts(part)).not.toContain('account');
    expect(mounts('sync')).toContain('account');
    const sync = container(deployment, 'sync');
    expect(sync).toMatchObject({ restartPolicy: 'Always', startupProbe: { httpGet: { path: '/readyz' } } });
    expect(container(deployment, part).volumeMounts).toContainEqual({
      name: 'managed',
      mountPath: '/managed',
      readOnly: true,
    });
  }
});

test('nobody may list or watch secrets; each part reads only its kinds', async () => {
  for (const values of [{}, { watchNamespaces: ['team-a'] }]) {
    const roles = (await render(values)).filter(({ kind }) => kind.endsWith('Role'));
    const rules = roles.flatMap(
      ({ rules: list }) => list as { resources: string[]; verbs: string[]; resourceNames?: string[] }[],
    );
    for (const { resources, verbs, resourceNames } of rules) {
      expect(resources).not.toContain('*');
      expect(verbs).not.toContain('*');
      if (!resources.includes('secrets')) continue;
      expect(verbs).not.toContain('list');
      expect(verbs).not.toContain('watch');
      expect(resourceNames ?? verbs).toEqual(resourceNames ? ['sb-tokens'] : ['create']);
    }
    const ofGateway = roles.find(({ metadata }) => metadata.name === 'ops-sb-gateway');
    expect(ofGateway?.rules).toEqual([
      { apiGroups: ['signalbox.dev'], resources: ['agents'], verbs: ['get', 'list', 'watch'] },
    ]);
  }
});

test('without a value every right is in the namespace of the release', async () => {
  const manifests = await render();
  expect(manifests.filter(({ kind }) => kind.startsWith('Cluster'))).toEqual([]);
  const rights = manifests.filter(({ kind }) => kind === 'Role' || kind === 'RoleBinding');
  expect(new Set(rights.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['ops']));
  const programs = [container(pick(manifests, 'Deployment', 'sb-controller'), 'controller')];
  for (const part of ['api-server', 'gateway'])
    programs.push(container(pick(manifests, 'Deployment', `sb-${part}`), 'sync'));
  for (const { args } of programs) expect(args).toContain('--namespaces=ops');
});

test('rights in all namespaces have to be asked for', async () => {
  const manifests = await render({ watchAllNamespaces: true });
  expect(named(manifests)).toContain('ClusterRole ops-sb-controller');
  const { args } = container(pick(manifests, 'Deployment', 'sb-controller'), 'controller');
  expect(args.filter((one: string) => one.startsWith('--namespaces'))).toEqual([]);
  expect(await refusal({ watchAllNamespaces: true, watchNamespaces: ['team-a'] })).toContain('watchAllNamespaces');
});

test.each([
  [{}, 'reload-token', 'gateway-reload-token'],
  [{ 'auth.existingSecret': 'mine' }, 'admin-token', 'gateway-admin-token'],
  [{ 'auth.existingSecret': 'mine', 'auth.existingReloadTokens': true }, 'reload-token', 'gateway-reload-token'],
])('with %j the sidecars reload with the %s and the %s, which the services know', async (values, ...keys) => {
  const manifests = await render(values);
  for (const [index, part] of ['api-server', 'gateway'].entries()) {
    const deployment = pick(manifests, 'Deployment', `sb-${part}`);
    const volumes = deployment.spec.template.spec.volumes as { name: string; secret?: { items: { key: string }[] } }[];
    const [item] = volumes.find(({ name }) => name === 'reload-token')?.secret?.items ?? [];
    expect(item?.key).toBe(keys[index]);
    const env = container(deployment, part).env as { valueFrom?: { secretKeyRef?: { key: string } } }[];
    expect(env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.key)).toContain(keys[index]);
  }
  const { auth } = configFile(manifests, 'api-server.yaml') as { auth: { tokens: { role: string }[] } };
  expect(auth.tokens.some(({ role }) => role === 'reload')).toBe(keys[0] === 'reload-token');
});

test('namespaces that are named get roles of their own, and none is cluster-wide', async () => {
  const manifests = await render({ watchNamespaces: ['team-a', 'team-b'] });
  expect(manifests.filter(({ kind }) => kind.startsWith('Cluster'))).toEqual([]);
  const places = manifests.filter(({ kind, metadata }) => kind === 'Role' && metadata.name === 'ops-sb-controller');
  expect(places.map(({ metadata }) => metadata.namespace)).toEqual(['team-a', 'team-b']);
  const { args } = container(pick(manifests, 'Deployment', 'sb-controller'), 'controller');
  expect(args).toContain('--namespaces=team-a,team-b');
});

test('api-servers that share Postgres roll one after the other; one with a volume of its own goes first', async () => {
  const strategyOf = async (values: Record<string, unknown>) =>
    pick(await render({ 'database.existingSecret': 'pg', ...values }), 'Deployment', 'sb-api-server').spec.strategy;
  const rolls = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  expect(await strategyOf({ 'apiServer.replicas': 2 })).toEqual(rolls);
  expect(await strategyOf({ 'apiServer.persistence.enabled': false })).toEqual(rolls);
  expect(await strategyOf({})).toEqual({ type: 'Recreate' });
});

test('the embedded database has a volume and one process at a time; Postgres comes from a Secret', async () => {
  const plain = await render();
  expect(pick(plain, 'Deployment', 'sb-api-server').spec.strategy).toEqual({ type: 'Recreate' });
  expect(pick(plain, 'PersistentVolumeClaim', 'sb-api-server').spec.accessModes).toEqual(['ReadWriteOnce']);
  const postgres = await render({
    'database.existingSecret': 'pg',
    'database.key': 'dsn',
    'apiServer.persistence.existingClaim': 'mine',
  });
  const deployment = pick(postgres, 'Deployment', 'sb-api-server');
  expect(container(deployment, 'api-server').env).toContainEqual({
    name: 'DATABASE_URL',
    valueFrom: { secretKeyRef: { name: 'pg', key: 'dsn' } },
  });
  expect(deployment.spec.template.spec.volumes).toContainEqual({
    name: 'data',
    persistentVolumeClaim: { claimName: 'mine' },
  });
  expect(named(postgres)).not.toContain('PersistentVolumeClaim sb-api-server');
  expect(configFile(postgres, 'api-server.yaml')).toMatchObject({ database: { url: '${DATABASE_URL}' } });
});

test('metrics that want a token are scraped with one', async () => {
  const monitors = await render({
    'monitoring.serviceMonitor.enabled': true,
    'apiServer.config': { auth: { metrics_auth: true } },
    'gateway.config': { server: { metrics_auth: true } },
  });
  const credentials = (part: string) =>
    pick(monitors, 'ServiceMonitor', `sb-${part}`).spec.endpoints[0].authorization?.credentials;
  expect(credentials('api-server')).toEqual({ name: 'sb-tokens', key: 'viewer-token' });
  expect(credentials('gateway')).toEqual({ name: 'sb-tokens', key: 'gateway-invoke-token' });
  expect(credentials('controller')).toBeUndefined();
});

test('several api-servers share a volume that was brought, or write no files', async () => {
  const several = { 'apiServer.replicas': 2, 'database.existingSecret': 'pg' };
  const alone = await render(several);
  expect(named(alone).filter((name) => name.startsWith('PersistentVolumeClaim'))).toEqual([]);
  const volumes = (manifests: readonly Manifest[]) =>
    pick(manifests, 'Deployment', 'sb-api-server').spec.template.spec.volumes as { name: string }[];
  expect(volumes(alone)).toContainEqual({ name: 'data', emptyDir: {} });
  for (const key of ['pipeline_config_dir', 'step_library_dir'])
    expect(configFile(alone, 'api-server.yaml')).not.toHaveProperty(key);
  // In the database.
  expect(configFile(alone, 'api-server.yaml')).toMatchObject({ artifacts: {} });
  expect(configFile(alone, 'api-server.yaml')).not.toHaveProperty('artifacts.dir');
  const shared = await render({ ...several, 'apiServer.persistence.existingClaim': 'shared' });
  expect(volumes(shared)).toContainEqual({ name: 'data', persistentVolumeClaim: { claimName: 'shared' } });
  expect(configFile(shared, 'api-server.yaml')).toMatchObject({ pipeline_config_dir: '/data/pipelines' });
});

test('a token Secret of one’s own is used throughout, and nobody makes another', async () => {
  const values = { 'auth.existingSecret': 'mine' };
  const text = await renderText(values);
  expect(text).not.toContain('sb-tokens');
  expect(text).not.toContain('"secrets"');
  const manifests = await render(values);
  expect(named(manifests).filter((name) => name.startsWith('Job '))).toEqual([]);
  for (const part of ['api-server', 'gateway']) {
    const deployment = pick(manifests, 'Deployment', `sb-${part}`);
    const env = container(deployment, part).env as { valueFrom?: { secretKeyRef?: { name: string } } }[];
    const secrets = env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []);
    expect(new Set(secrets)).toEqual(new Set(['mine']));
  }
});

test.each([
  [{}, 'gateway-approve-token'],
  [{ 'auth.existingSecret': 'mine' }, 'gateway-invoke-token'],
  [{ 'auth.existingSecret': 'mine', 'auth.existingApproveToken': true }, 'gateway-approve-token'],
])('with %j the api-server calls the gateway with the %s, which the gateway knows', async (values, key) => {
  const manifests = await render(values);
  const keysOf = (part: string) => {
    const env = container(pick(manifests, 'Deployment', `sb-${part}`), part).env as {
      name: string;
      valueFrom?: { secretKeyRef?: { key: string } };
    }[];
    return new Map(env.map(({ name, valueFrom }) => [name, valueFrom?.secretKeyRef?.key]));
  };
  const { executors } = configFile(manifests, 'api-server.yaml') as { executors: { gateway: { token: string } } };
  const name = executors.gateway.token.slice(2, -1);
  expect(keysOf('api-server').get(name)).toBe(key);
  expect(keysOf('gateway').get(name)).toBe(key);
});

test('the gateway is entered by Signalbox and the monitoring only; without policies there are none', async () => {
  const manifests = await render();
  const { ingress } = pick(manifests, 'NetworkPolicy', 'sb-gateway').spec;
  expect(ingress[0].ports).toEqual([{ port: 'http' }]);
  expect(ingress[0].from[0].podSelector.matchLabels).toEqual({
    'app.kubernetes.io/name': 'signalbox',
    'app.kubernetes.io/instance': 'sb',
  });
  expect(pick(manifests, 'NetworkPolicy', 'sb-api-server').spec.ingress[0]).toEqual({ ports: [{ port: 'http' }] });
  expect(
    named(await render({ 'networkPolicy.enabled': false })).filter((name) => name.startsWith('NetworkPolicy')),
  ).toEqual([]);
});

test('a service connects to public addresses, the Kubernetes API and Signalbox, and to what values add', async () => {
  const egressOf = async (part: string, values: Values = {}) =>
    JSON.stringify(pick(await render(values), 'NetworkPolicy', `sb-${part}`).spec.egress);
  for (const part of ['api-server', 'gateway', 'controller']) {
    const { policyTypes, egress } = pick(await render(), 'NetworkPolicy', `sb-${part}`).spec;
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    const blocks = egress.flatMap(({ to = [] }: { to?: { ipBlock?: { cidr: string; except: string[] } }[] }) =>
      to.flatMap(({ ipBlock }) => (ipBlock ? [ipBlock] : [])),
    ) as { cidr: string; except: string[] }[];
    expect(blocks).toHaveLength(4);
    for (const { cidr, except } of blocks) expect(except).toContain(cidr === '::/0' ? 'fe80::/10' : '169.254.0.0/16');
  }
  expect(await egressOf('gateway')).toContain('signalbox.dev/agent');
  expect(await egressOf('api-server')).not.toContain('5432');
  expect(await egressOf('api-server', { 'database.existingSecret': 'pg' })).toContain('5432');
  const more = { to: [{ podSelector: { matchLabels: { app: 'tools' } } }], ports: [{ port: 9000 }] };
  const added = await render({ 'networkPolicy.egress.gateway': [more] });
  expect(pick(added, 'NetworkPolicy', 'sb-gateway').spec.egress).toContainEqual(more);
  expect(JSON.stringify(pick(added, 'NetworkPolicy', 'sb-api-server').spec.egress)).not.toContain('9000');
  const open = await render({ 'networkPolicy.egress.enabled': false });
  expect(pick(open, 'NetworkPolicy', 'sb-gateway').spec).toMatchObject({ policyTypes: ['Ingress'] });
});

test('monitoring is off until it is asked for, and then scrapes each replica with its sidecar', async () => {
  expect(named(await render()).filter((name) => /Monitor|Prometheus|Alertmanager|dashboard/.test(name))).toEqual([]);
  const manifests = await render(EVERYTHING);
  const scrapes = manifests
    .filter(({ kind }) => kind === 'ServiceMonitor')
    .flatMap(({ spec }) => {
      const services = manifests.filter(
        ({ kind, metadata }) =>
          kind === 'Service' &&
          Object.entries(spec.selector.matchLabels).every(([key, value]) => metadata.labels[key] === value),
      );
      const ports = spec.endpoints.map(({ port }: { port: string }) => port).join(' ');
      return services.map(({ metadata }) => `${metadata.name}: ${ports}`);
    });
  expect(scrapes.toSorted()).toEqual([
    'sb-api-server-pods: http sync',
    'sb-controller: http',
    'sb-gateway-pods: http sync',
  ]);
  const receiver = pick(manifests, 'AlertmanagerConfig', 'sb').spec.receivers[0].webhookConfigs[0];
  expect(receiver.url).toBe('http://sb-api-server.ops.svc:8000/webhook?source=alert_router');
  expect(receiver.httpConfig.authorization.credentials).toEqual({ name: 'mine', key: 'webhook-token' });
  const dashboards = manifests.filter(({ metadata }) => metadata.labels['grafana_dashboard'] === '1');
  expect(dashboards).toHaveLength(4);
  for (const { data } of dashboards)
    for (const text of Object.values(data)) expect(JSON.parse(String(text)).panels.length).toBeGreaterThan(5);
});

test('the objects for the Prometheus operator have the fields that its kinds know', async () => {
  const manifests = await render({
    ...EVERYTHING,
    'apiServer.config': { auth: { metrics_auth: true } },
    'gateway.config': { server: { metrics_auth: true } },
    'monitoring.alertmanagerConfig.matchers': [{ name: 'severity', matchType: '=~', value: 'warning|critical' }],
  });
  const seen = manifests.flatMap(({ apiVersion, kind, spec }) => {
    const known = OPERATOR_KINDS[`${apiVersion} ${kind}`];
    if (known) expect(known.safeParse(spec).error?.issues).toBeUndefined();
    return apiVersion.startsWith('monitoring.coreos.com/') ? [known ? kind : `unknown ${kind}`] : [];
  });
  expect([...new Set(seen)].toSorted()).toEqual(['AlertmanagerConfig', 'PrometheusRule', 'ServiceMonitor']);
});

test('matchers that the Prometheus operator would not take are refused before anything is installed', async () => {
  const refused = (matchers: unknown) =>
    refusal({ 'monitoring.alertmanagerConfig.enabled': true, 'monitoring.alertmanagerConfig.matchers': matchers });
  expect(await refused([{ label: 'severity', value: 'critical' }])).toContain('matchers');
  expect(await refused([{ name: 'severity', matchType: '~', value: 'critical' }])).toContain('matchType');
});
