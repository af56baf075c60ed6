/** Argo CD's own programs in the cluster, and a Git server for it to follow. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Cluster } from './cluster.ts';

export const NAMESPACE = 'argocd';

export interface ArgocdParts {
  readonly image: string;
  /** Text of the core install. */
  readonly manifest: string;
}

const VERSION = 'v3.2.1';
const PUBLIC_MANIFEST = `https://raw.githubusercontent.com/argoproj/argo-cd/${VERSION}/manifests/core-install.yaml`;

/** From the environment, or from its project; null, with a reason on the terminal, where neither can be had. */
export async function argocdParts(): Promise<ArgocdParts | null> {
  const { ARGOCD_IMAGE: image, ARGOCD_MANIFEST: file } = process.env;
  if (image && file) return { image, manifest: readFileSync(file, 'utf8') };
  try {
    const answer = await fetch(PUBLIC_MANIFEST, { signal: AbortSignal.timeout(20_000) });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    return { image: `quay.io/argoproj/argocd:${VERSION}`, manifest: await answer.text() };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    console.log(
      `left out: Argo CD, for ARGOCD_IMAGE and ARGOCD_MANIFEST are not set and ${PUBLIC_MANIFEST} is not to be had (${why})`,
    );
    return null;
  }
}

const GIT_SERVER =
  'git init -q --bare -b main /git/repository.git && exec git daemon --export-all --enable=receive-pack --reuseaddr --base-path=/git';

const gitServer = (image: string): object[] => [
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'git' },
    spec: {
      selector: { matchLabels: { app: 'git' } },
      template: {
        metadata: { labels: { app: 'git' } },
        spec: {
          containers: [
            {
              name: 'git',
              image,
              imagePullPolicy: 'IfNotPresent',
              command: ['sh', '-c', GIT_SERVER],
              readinessProbe: { tcpSocket: { port: 9418 }, periodSeconds: 1 },
              volumeMounts: [{ name: 'git', mountPath: '/git' }],
            },
          ],
          volumes: [{ name: 'git', emptyDir: {} }],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'git' },
    spec: { selector: { app: 'git' }, ports: [{ port: 9418 }] },
  },
];

/** Where Argo CD finds the repository. */
export const REPOSITORY = `git://git.${NAMESPACE}.svc.cluster.local/repository.git`;

export async function startArgocd(cluster: Cluster, { image, manifest }: ArgocdParts): Promise<void> {
  await cluster.apply('default', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  await cluster.kubectl(['apply', '--server-side', '--namespace', NAMESPACE, '-f', '-'], manifest);
  const patch = join(ROOT, 'config/argocd/argocd-cm.yaml');
  await cluster.kubectl(['-n', NAMESPACE, 'patch', 'configmap', 'argocd-cm', '--patch-file', patch]);
  // So that the Application tells the health of every object, which a person would see on Argo CD's page.
  const persist = JSON.stringify({ data: { 'controller.resource.health.persist': 'true' } });
  await cluster.kubectl(['-n', NAMESPACE, 'patch', 'configmap', 'argocd-cmd-params-cm', '--patch', persist]);
  await cluster.kubectl(['-n', NAMESPACE, 'rollout', 'restart', 'statefulset/argocd-application-controller']);
  await cluster.apply(NAMESPACE, ...gitServer(image));
  for (const name of ['deployment/argocd-repo-server', 'deployment/git', 'statefulset/argocd-application-controller'])
    await cluster.kubectl(['-n', NAMESPACE, 'rollout', 'status', name, '--timeout=180s']);
}

/** The project and the Application of config/argocd, pointed at the repository in the cluster. */
export function definitionsApplication(): object[] {
  const text = ['project.yaml', 'application.yaml']
    .map((name) => readFileSync(join(ROOT, 'config/argocd', name), 'utf8'))
    .join('\n---\n');
  return parseAllDocuments(text.replaceAll('https://git.example.com/platform/pipelines.git', REPOSITORY)).map(
    (document) => document.toJS() as object,
  );
}

export const openProject = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'AppProject',
  metadata: { name: 'default' },
  spec: {
    sourceRepos: ['*'],
    destinations: [{ server: '*', namespace: '*' }],
    clusterResourceWhitelist: [{ group: '*', kind: '*' }],
  },
};

export interface ChartOptions {
  name: string;
  path: string;
  namespace: string;
  values?: object;
}

export const chartApplication = ({ name, path, namespace, values }: ChartOptions) => ({
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'Application',
  metadata: { name },
  spec: {
    project: 'default',
    source: { repoURL: REPOSITORY, path, targetRevision: 'HEAD', helm: { valuesObject: values ?? {} } },
    destination: { server: 'https://kubernetes.default.svc', namespace },
    syncPolicy: { automated: { prune: true, selfHeal: true }, syncOptions: ['ServerSideApply=true'] },
  },
});

export interface Application {
  metadata: { resourceVersion: string };
  status?: {
    sync?: { status: string; revision?: string };
    health?: { status: string };
    operationState?: { finishedAt?: string; message?: string; phase?: string };
    history?: unknown[];
    conditions?: { type: string; message: string }[];
    resources?: { kind: string; name: string; status?: string; health?: { status: string; message?: string } }[];
  };
}

export const application = (cluster: Cluster, name: string): Promise<Application> =>
  cluster.read<Application>('-n', NAMESPACE, 'get', 'application', name);

/** Waits until an Application meets `holds`; the error has its last state. */
export async function untilApplication(
  cluster: Cluster,
  name: string,
  what: string,
  holds: (app: Application) => boolean,
): Promise<Application> {
  let last: Application | null = null;
  const probe = async () => {
    last = await application(cluster, name);
    return holds(last) ? last : null;
  };
  return waitFor(probe, { what, timeoutMs: 240_000, everyMs: 1000 }).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${name}: ${JSON.stringify(last?.status, null, 1)}`, { cause: error });
  });
}

/** Argo CD polls every few minutes; this makes it look at once. */
export async function refresh(cluster: Cluster, name: string): Promise<void> {
  await cluster.kubectl([
    '-n',
    NAMESPACE,
    'annotate',
    'application',
    name,
    'argocd.argoproj.io/refresh=normal',
    '--overwrite',
  ]);
}
