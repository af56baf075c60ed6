/** `npm run e2e`: the complete installation in a real cluster. */
import { readOptions } from '@signalbox/crds/process/command-line';
import { run } from './run.ts';
import type { Cluster } from './cluster.ts';
import { diagnose } from './diagnose.ts';
import { followGit } from './gitops.ts';
import { type ArgocdParts, argocdParts } from './argocd.ts';
import { install, prepare } from './install.ts';
import { checkModes } from './image-modes.ts';
import { TAGS } from './images.ts';
import { heading, step } from './progress.ts';
import { stopWhileStarting } from './signals.ts';
import { serveAlerts } from './scenario.ts';

const HELP = `npm run e2e [-- options]: Signalbox in a kind cluster, with a real Alertmanager, Prometheus and Argo CD

  --keep             keeps the cluster and prints how to reach it
  --without-argocd   skips the part with Argo CD

Needs docker, kind, kubectl, helm and git. Environment:
  KIND_NODE_IMAGE                  image of the node; default: kind's own
  ARGOCD_IMAGE, ARGOCD_MANIFEST    Argo CD's image and core install; default: those of its project
`;

const PROGRAMS = ['docker', 'kind', 'kubectl', 'helm', 'git'];

async function missingPrograms(): Promise<string[]> {
  const found = await Promise.all(
    PROGRAMS.map((name) => run('sh', ['-c', `command -v ${name}`]).then(Boolean, () => false)),
  );
  return PROGRAMS.filter((_, index) => !found[index]);
}

async function main(): Promise<number> {
  const { values } = readOptions('e2e', HELP, {
    options: { keep: { type: 'boolean' }, 'without-argocd': { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const missing = await missingPrograms();
  if (missing.length > 0) {
    console.error(`not installed: ${missing.join(', ')}\n\n${HELP}`);
    return 2;
  }
  const started = performance.now();
  let cluster: Cluster | null = null;
  try {
    const argocd = values['without-argocd'] ? null : await argocdParts();
    heading('Cluster');
    cluster = await prepare();
    await test(cluster, argocd);
    console.log(`\ne2e passed in ${((performance.now() - started) / 60_000).toFixed(1)} min`);
    return 0;
  } catch (error) {
    if (cluster) await diagnose(cluster).catch((other: unknown) => console.error(other));
    console.error(`\ne2e failed: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    if (cluster) await leave(cluster, values.keep ?? false);
  }
}

async function leave(cluster: Cluster, keep: boolean): Promise<void> {
  if (!keep) return cluster.remove();
  console.log(
    `\nkept; export KUBECONFIG=${cluster.kubeconfig}\ndelete it with: kind delete cluster --name signalbox-e2e`,
  );
}

async function test(cluster: Cluster, argocd: ArgocdParts | null): Promise<void> {
  // A gigabyte, so it goes in while the first part runs.
  const loaded = argocd === null ? Promise.resolve() : cluster.load(argocd.image);
  loaded.catch(() => undefined);
  await step('a container of every part stops while it starts', () => stopWhileStarting(`signalbox:${TAGS[0]}`));
  await step('another user reads and writes nothing of the services', () => checkModes(`signalbox:${TAGS[0]}`));
  heading('Installed with Helm');
  await install(cluster);
  await serveAlerts(cluster);
  if (argocd === null) return console.log('\nskipped: Argo CD');
  heading('Installed with Argo CD, definitions from Git');
  await followGit(cluster, argocd, loaded);
}

process.exitCode = await main();
