import type { Cluster } from './cluster.ts';

interface Pods {
  items: {
    metadata: { namespace: string; name: string };
    status: {
      containerStatuses?: { name: string; ready: boolean; restartCount: number }[];
      initContainerStatuses?: { name: string; ready: boolean; restartCount: number }[];
    };
  }[];
}

const SKIPPED = new Set(['kube-system', 'local-path-storage']);

/** Prints what a person would look at first: pods, events, and the end of every log. */
export async function diagnose(cluster: Cluster): Promise<void> {
  const show = async (args: readonly string[]) => {
    const said = await cluster.kubectl(args).catch((error: unknown) => String(error));
    console.log(`\n$ kubectl ${args.join(' ')}\n${said.trimEnd()}`);
  };
  await show(['get', 'pods', '--all-namespaces', '-o', 'wide']);
  await show(['get', 'signalbox', '--all-namespaces']);
  await show(['get', 'events', '--all-namespaces', '--field-selector=type=Warning', '--sort-by=.lastTimestamp']);
  const { items } = await cluster.read<Pods>('get', 'pods', '--all-namespaces');
  for (const { metadata, status } of items) {
    if (SKIPPED.has(metadata.namespace)) continue;
    for (const { name, restartCount } of [
      ...(status.initContainerStatuses ?? []),
      ...(status.containerStatuses ?? []),
    ]) {
      const args = ['-n', metadata.namespace, 'logs', metadata.name, '-c', name, '--tail=25'];
      await show(args);
      if (restartCount > 0) await show([...args, '--previous']);
    }
  }
}
