/** A real Alertmanager and a real Prometheus in the cluster, configured as their users would. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { ROOT } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Cluster } from './cluster.ts';
import { MONITORING_IMAGE } from './images.ts';

export const NAMESPACE = 'monitoring';

/** config/alertmanager/alertmanager.yml, pointed at a Service, and without its patience. */
function alertmanagerConfig(webhook: string): string {
  const config = parse(readFileSync(join(ROOT, 'config/alertmanager/alertmanager.yml'), 'utf8'));
  config.route = { ...config.route, group_wait: '1s', group_interval: '5s' };
  const [receiver] = config.receivers[0].webhook_configs;
  receiver.url = webhook;
  receiver.http_config.authorization.credentials_file = '/secrets/webhook-token';
  return stringify(config);
}

/** Where the parts of a release serve metrics: a headless Service, so that every pod is scraped, and a port. */
export const SCRAPED = [
  'api-server-pods:8000',
  'api-server-pods:8081',
  'gateway-pods:18780',
  'gateway-pods:8081',
  'controller:8080',
];

/** By DNS, because Debian builds Prometheus without its discovery of Kubernetes. */
const prometheusConfig = (release: string, namespace: string) => ({
  global: { scrape_interval: '2s', evaluation_interval: '2s' },
  rule_files: ['/config/alert-rules.yaml'],
  scrape_configs: SCRAPED.map((place) => {
    const [service, port] = place.split(':');
    const discovery = {
      names: [`${release}-${service}.${namespace}.svc.cluster.local`],
      type: 'A',
      port: Number(port),
      refresh_interval: '2s',
    };
    return { job_name: place, dns_sd_configs: [discovery] };
  }),
});

interface Program {
  name: string;
  command: string[];
  port: number;
  secret?: string;
}

const workload = ({ name, command, port, secret }: Program): object[] => [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsUser: 65_534, fsGroup: 65_534 },
          containers: [
            {
              name,
              image: MONITORING_IMAGE,
              imagePullPolicy: 'IfNotPresent',
              command,
              ports: [{ containerPort: port }],
              readinessProbe: { httpGet: { path: '/-/ready', port }, periodSeconds: 1 },
              volumeMounts: [
                { name: 'config', mountPath: '/config' },
                { name: 'data', mountPath: '/data' },
                ...(secret ? [{ name: 'secrets', mountPath: '/secrets' }] : []),
              ],
            },
          ],
          volumes: [
            { name: 'config', configMap: { name } },
            { name: 'data', emptyDir: {} },
            ...(secret ? [{ name: 'secrets', secret: { secretName: secret } }] : []),
          ],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port }] },
  },
];

const configMap = (name: string, data: Record<string, string>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

export interface Target {
  release: string;
  namespace: string;
  webhookToken: string;
}

export async function startMonitoring(cluster: Cluster, { release, namespace, webhookToken }: Target): Promise<void> {
  const webhook = `http://${release}-api-server.${namespace}:8000/webhook?source=alert_router`;
  await cluster.apply(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  const rules = readFileSync(join(ROOT, 'charts/signalbox/files/alert-rules.yaml'), 'utf8');
  await cluster.apply(
    NAMESPACE,
    configMap('alertmanager', { 'alertmanager.yml': alertmanagerConfig(webhook) }),
    configMap('prometheus', {
      'prometheus.yml': stringify(prometheusConfig(release, namespace)),
      'alert-rules.yaml': rules,
    }),
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'signalbox' },
      stringData: { 'webhook-token': webhookToken },
    },
    ...workload({
      name: 'alertmanager',
      command: [
        'prometheus-alertmanager',
        '--config.file=/config/alertmanager.yml',
        '--storage.path=/data',
        '--cluster.listen-address=',
      ],
      port: 9093,
      secret: 'signalbox',
    }),
    ...workload({
      name: 'prometheus',
      command: ['prometheus', '--config.file=/config/prometheus.yml', '--storage.tsdb.path=/data'],
      port: 9090,
    }),
  );
  for (const name of ['alertmanager', 'prometheus'])
    await cluster.kubectl(['-n', NAMESPACE, 'rollout', 'status', `deployment/${name}`, '--timeout=120s']);
}

const proxy = (service: string) => `/api/v1/namespaces/${NAMESPACE}/services/${service}/proxy`;

/** Hands an alert to Alertmanager, as Prometheus would. */
export async function fireAlert(cluster: Cluster, labels: Record<string, string>, summary: string): Promise<void> {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const amtool = [
    'amtool',
    'alert',
    'add',
    '--alertmanager.url=http://127.0.0.1:9093',
    `--annotation=summary=${summary}`,
  ];
  await cluster.kubectl(['-n', NAMESPACE, 'exec', 'deployment/alertmanager', '--', ...amtool, ...pairs]);
}

export interface Series {
  metric: Record<string, string>;
  value: number;
}

export async function queryPrometheus(cluster: Cluster, query: string): Promise<Series[]> {
  const path = `${proxy('prometheus:9090')}/api/v1/query?query=${encodeURIComponent(query)}`;
  const { data } = JSON.parse(await cluster.kubectl(['get', '--raw', path])) as {
    data: { result: { metric: Record<string, string>; value: [number, string] }[] };
  };
  return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
}

/** Waits until a query answers at least one series whose value is what `holds` asks for. */
export function seriesWhere(cluster: Cluster, query: string, holds: (value: number) => boolean): Promise<Series> {
  return waitFor(async () => (await queryPrometheus(cluster, query)).find(({ value }) => holds(value)), {
    what: `Prometheus to answer ${query}`,
    timeoutMs: 60_000,
    everyMs: 1000,
  });
}

/** Rules that Prometheus could not evaluate, with its words. */
export async function brokenRules(cluster: Cluster): Promise<string[]> {
  const { data } = JSON.parse(await cluster.kubectl(['get', '--raw', `${proxy('prometheus:9090')}/api/v1/rules`])) as {
    data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
  };
  const rules = data.groups.flatMap((group) => group.rules);
  if (rules.length === 0) return ['there are no rules'];
  return rules.filter(({ health }) => health === 'err').map(({ name, lastError }) => `${name}: ${lastError}`);
}
