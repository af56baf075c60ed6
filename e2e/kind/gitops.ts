/** Git is the only source of definitions: commits add, change, break, repair and remove them. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ROOT } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  type Application,
  type ArgocdParts,
  chartApplication,
  definitionsApplication,
  openProject,
  NAMESPACE as ARGOCD,
  refresh,
  startArgocd,
  untilApplication,
} from './argocd.ts';
import type { Cluster } from './cluster.ts';
import { TAGS } from './images.ts';
import { ensure, step } from './progress.ts';
import { NAMESPACE, RELEASE } from './release.ts';
import { run } from './run.ts';

const DEFINITIONS = 'signalbox-definitions';
const QUIET_MS = 60_000;
const LOOK_MS = 15_000;

interface Repository {
  readonly path: string;
  commit(message: string): Promise<void>;
}

const isSettled = ({ status }: Application): boolean =>
  status?.sync?.status === 'Synced' && status.health?.status === 'Healthy';

const healthOf = ({ status }: Application, name: string) => status?.resources?.find((one) => one.name === name)?.health;

/** `loaded` settles when the cluster has Argo CD's image. */
export async function followGit(cluster: Cluster, parts: ArgocdParts, loaded: Promise<void>): Promise<void> {
  await step('the image of Argo CD is loaded', () => loaded);
  await step('Argo CD and a Git server start', () => startArgocd(cluster, parts));
  const way = await cluster.forward(ARGOCD, 'service/git', 9418);
  const repository = await openRepository(cluster, way.port);
  try {
    await step('both charts are installed by Argo CD, the token Secret made by the hook', () =>
      installByGit(cluster, repository),
    );
    await step('a commit adds a pipeline, its step and its agent: served and Healthy', () =>
      addDefinitions(cluster, repository),
    );
    await step('a broken commit makes its object Degraded with the reason; the others are still served', () =>
      breakOne(cluster, repository),
    );
    await step('a revert makes it Healthy again', () => heal(cluster, repository));
    await step('for a minute no object is written', () => staysQuiet(cluster));
    await step('a removed file removes its object', () => removeOne(cluster, repository));
  } finally {
    way.close();
  }
}

async function openRepository(cluster: Cluster, port: number): Promise<Repository> {
  const path = join(cluster.scratch, 'repository');
  const identity = ['-c', 'user.name=e2e', '-c', 'user.email=e2e@example.com', '-c', 'commit.gpgsign=false'];
  const git = (...args: string[]) => run('git', [...identity, ...args], { cwd: path });
  await run('git', ['init', '-q', '-b', 'main', path]);
  await git('remote', 'add', 'origin', `git://127.0.0.1:${port}/repository.git`);
  return {
    path,
    commit: async (message) => {
      await git('add', '--all');
      await git('commit', '-q', '-m', message);
      await git('push', '-q', 'origin', 'main');
    },
  };
}

async function installByGit(cluster: Cluster, { path, commit }: Repository): Promise<void> {
  // What the installation with Helm left behind would hide what this one makes.
  await cluster.kubectl(['delete', 'namespace', NAMESPACE, '--timeout=120s']);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await cluster.apply('default', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } });
  cpSync(join(ROOT, 'charts'), join(path, 'charts'), { recursive: true });
  await commit('Install Signalbox');
  await cluster.apply(
    ARGOCD,
    openProject,
    chartApplication({ name: 'signalbox-crds', path: 'charts/signalbox-crds', namespace: NAMESPACE }),
    chartApplication({
      name: RELEASE,
      path: 'charts/signalbox',
      namespace: NAMESPACE,
      values: { image: { tag: TAGS[1] } },
    }),
  );
  await untilApplication(cluster, 'signalbox-crds', 'the kinds to be there', isSettled);
  await untilApplication(cluster, RELEASE, 'the services to run', isSettled);
  await cluster.kubectl(['-n', NAMESPACE, 'get', 'secret', `${RELEASE}-tokens`]);
}

async function addDefinitions(cluster: Cluster, { path, commit }: Repository): Promise<void> {
  cpSync(join(ROOT, 'config/gitops/definitions'), join(path, 'definitions'), { recursive: true });
  await commit('Look at disks that fill up');
  await cluster.apply(ARGOCD, ...definitionsApplication());
  const app = await untilApplication(
    cluster,
    DEFINITIONS,
    'the definitions to be Healthy',
    (one) => isSettled(one) && one.status?.resources?.length === 3,
  );
  const healths = app.status?.resources?.map(({ kind, health }) => `${kind} ${health?.status}`).toSorted();
  ensure(
    healths?.join() === 'Agent Healthy,LibraryStep Healthy,Pipeline Healthy',
    `their health is ${healths?.join()}`,
  );
}

const pipelineFile = ({ path }: Repository) => join(path, 'definitions/pipelines/disk-filling.yaml');

async function breakOne(cluster: Cluster, repository: Repository): Promise<void> {
  const file = pipelineFile(repository);
  writeFileSync(file, readFileSync(file, 'utf8').replace('use: read-disks', 'use: no-such-step'));
  const second = readFileSync(file, 'utf8')
    .replace('name: disk-filling', 'name: disk-filling-too')
    .replace('no-such-step', 'read-disks');
  writeFileSync(file.replace('disk-filling', 'disk-filling-too'), second);
  await repository.commit('Break one pipeline and add another');
  await refresh(cluster, DEFINITIONS);
  const app = await untilApplication(
    cluster,
    DEFINITIONS,
    'the broken pipeline to be Degraded and the new one Healthy',
    (one) =>
      healthOf(one, 'disk-filling')?.status === 'Degraded' && healthOf(one, 'disk-filling-too')?.status === 'Healthy',
  );
  const message = healthOf(app, 'disk-filling')?.message ?? '';
  ensure(message.includes('no-such-step'), `the reason does not name the step: ${message}`);
  ensure(app.status?.sync?.status === 'Synced', 'the commit was not applied');
  for (const name of ['read-disks', 'disk-reader'])
    ensure(healthOf(app, name)?.status === 'Healthy', `${name} is ${JSON.stringify(healthOf(app, name))}`);
  const served = await cluster.read<{ status: { conditions: { type: string; status: string }[] } }>(
    '-n',
    NAMESPACE,
    'get',
    'sbp',
    'disk-filling',
  );
  const synced = served.status.conditions.find(({ type }) => type === 'Synced');
  ensure(synced?.status === 'True', 'the last good edition of the broken pipeline is not served any more');
}

async function heal(cluster: Cluster, repository: Repository): Promise<void> {
  const file = pipelineFile(repository);
  writeFileSync(file, readFileSync(file, 'utf8').replace('use: no-such-step', 'use: read-disks'));
  await repository.commit('Revert what broke');
  await refresh(cluster, DEFINITIONS);
  await untilApplication(
    cluster,
    DEFINITIONS,
    'the pipeline to be Healthy again',
    (one) =>
      isSettled(one) && healthOf(one, 'disk-filling')?.status === 'Healthy' && one.status?.resources?.length === 4,
  );
}

interface Watched {
  items: {
    kind: string;
    metadata: { name: string; resourceVersion: string; managedFields?: { manager: string; time: string }[] };
  }[];
}

/** Our objects and those of the agents, with version, managers and times. */
async function versions(cluster: Cluster): Promise<Map<string, string>> {
  const kinds = 'pipelines,librarysteps,agents,deployments,services,networkpolicies,configmaps,secrets,serviceaccounts';
  const { items } = await cluster.read<Watched>('-n', NAMESPACE, 'get', kinds, '--show-managed-fields');
  return new Map(
    items.map(({ kind, metadata }) => {
      const writers = metadata.managedFields?.map(({ manager, time }) => `${manager} ${time}`).join(', ');
      return [`${kind} ${metadata.name}`, `${metadata.resourceVersion} (${writers})`];
    }),
  );
}

/** What was written between two looks; empty where nothing was. */
const written = (before: Map<string, string>, after: Map<string, string>): string =>
  [...after]
    .filter(([name, version]) => before.get(name) !== version)
    .map(([name, version]) => `${name}: ${before.get(name)} -> ${version}`)
    .join('; ');

async function staysQuiet(cluster: Cluster): Promise<void> {
  const app = await untilApplication(cluster, DEFINITIONS, 'quiet', isSettled);
  let before = new Map<string, string>();
  // The last of what the commits caused, such as the tools that a new agent was seen to have.
  const settled = async () => {
    const earlier = before;
    before = await versions(cluster);
    return written(earlier, before) === '';
  };
  await waitFor(settled, { what: 'the last writes', timeoutMs: 120_000, everyMs: 20_000 });
  // This is the length of the claim, not a wait for something.
  for (let waited = 0; waited < QUIET_MS; waited += LOOK_MS) {
    await delay(LOOK_MS);
    await refresh(cluster, DEFINITIONS);
  }
  const changes = written(before, await versions(cluster));
  ensure(changes === '', `written in a minute of quiet: ${changes}`);
  const now = await untilApplication(cluster, DEFINITIONS, 'to be still in sync', isSettled);
  ensure(
    now.status?.history?.length === app.status?.history?.length,
    'Argo CD synced again though nothing was committed',
  );
}

async function removeOne(cluster: Cluster, repository: Repository): Promise<void> {
  rmSync(pipelineFile(repository).replace('disk-filling', 'disk-filling-too'));
  await repository.commit('Take the second pipeline away');
  await refresh(cluster, DEFINITIONS);
  await untilApplication(
    cluster,
    DEFINITIONS,
    'the object to be pruned',
    (one) => isSettled(one) && one.status?.resources?.length === 3,
  );
  const left = await cluster.kubectl(['-n', NAMESPACE, 'get', 'sbp', '-o', 'name']);
  ensure(left.trim() === 'pipeline.signalbox.dev/disk-filling', `the pipelines are ${left}`);
}
