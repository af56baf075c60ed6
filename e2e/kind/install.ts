import { type Cluster, createCluster } from './cluster.ts';
import { buildMonitoring, buildSignalbox, MONITORING_IMAGE, TAGS } from './images.ts';
import { ensure, step } from './progress.ts';
import { NAMESPACE, RELEASE } from './release.ts';

export async function prepare(): Promise<Cluster> {
  const making = step('creating a cluster', createCluster);
  const building = [
    step('building the image', buildSignalbox),
    step('building an image with Alertmanager and Prometheus', buildMonitoring),
  ];
  // A cluster that is being made cannot be left to itself when a build fails.
  const failed = (await Promise.allSettled(building)).find(({ status }) => status === 'rejected');
  const cluster = await making;
  if (failed?.status === 'rejected') {
    await cluster.remove();
    throw failed.reason;
  }
  const images = [...TAGS.map((tag) => `signalbox:${tag}`), MONITORING_IMAGE];
  await step('loading the images', () => cluster.load(...images));
  return cluster;
}

const installation = (tag: string, ...more: string[]) => [
  ...`upgrade --install ${RELEASE} charts/signalbox --namespace ${NAMESPACE} --wait --timeout 5m`.split(' '),
  '--set',
  `image.tag=${tag}`,
  ...more,
];

export async function install(cluster: Cluster): Promise<void> {
  await step('installing both charts in a namespace that enforces restricted pods', async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await cluster.apply('default', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } });
    await cluster.helm('upgrade', '--install', 'signalbox-crds', 'charts/signalbox-crds', '--namespace', NAMESPACE);
    await cluster.helm(...installation(TAGS[0]));
  });
  await step('helm test passes', async () => {
    const said = await cluster.helm('test', RELEASE, '--namespace', NAMESPACE);
    ensure(/Phase:\s+Succeeded/.test(said), said);
  });
}

/** To the second tag, with a change of configuration. */
export function upgrade(cluster: Cluster): Promise<string> {
  return cluster.helm(...installation(TAGS[1], '--set', 'apiServer.config.concurrency.max_runs=7'));
}

interface Named {
  items: { kind: string; metadata: { name: string; ownerReferences?: { kind: string }[] } }[];
}

const LOOKED_AT = (
  'deployments replicasets pods services jobs configmaps secrets persistentvolumeclaims serviceaccounts roles ' +
  'rolebindings networkpolicies poddisruptionbudgets leases'
).replaceAll(' ', ',');
/** What every namespace has. */
const EVERYWHERE = new Set(['ConfigMap kube-root-ca.crt', 'ServiceAccount default']);

/** Only the objects, what they own, and the token Secret stay; the chart of the kinds goes last, and the kinds stay too. */
export async function uninstall(cluster: Cluster): Promise<void> {
  await cluster.helm('uninstall', RELEASE, '--namespace', NAMESPACE, '--wait', '--timeout', '3m');
  await cluster.helm('uninstall', 'signalbox-crds', '--namespace', NAMESPACE);
  await cluster.kubectl([
    '-n',
    NAMESPACE,
    'wait',
    '--for=delete',
    'pod',
    '-l',
    `app.kubernetes.io/instance=${RELEASE}`,
    '--timeout=120s',
  ]);
  const { items } = await cluster.read<Named>('-n', NAMESPACE, 'get', LOOKED_AT);
  const left = items
    .filter(
      ({ metadata }) =>
        !metadata.ownerReferences?.some(({ kind }) => ['Agent', 'Deployment', 'ReplicaSet'].includes(kind)),
    )
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    .filter((name) => !EVERYWHERE.has(name));
  ensure(left.join() === `Secret ${RELEASE}-tokens`, `left after the uninstall: ${left.join(', ')}`);
  const wide = await cluster.read<Named>(
    'get',
    'clusterroles,clusterrolebindings',
    '-l',
    `app.kubernetes.io/instance=${RELEASE}`,
  );
  ensure(wide.items.length === 0, `cluster-wide roles are left: ${wide.items.length}`);
  const objects = await cluster.read<Named>('-n', NAMESPACE, 'get', 'signalbox');
  ensure(objects.items.length > 0, 'the objects went with the charts');
  const agents = await cluster.read<Named>('-n', NAMESPACE, 'get', 'deployments', '-l', 'signalbox.dev/agent');
  ensure(agents.items.length > 0, 'the pods of the agents went with the charts');
}
