import type { Cluster } from './kube/cluster.ts';
import { type Collection, collectionOf, reflect, type ReflectedStore } from './kube/reflector.ts';
import type { Log } from './observability/log.ts';
import type { Metrics } from './observability/metrics.ts';
import type { World } from './objects/world.ts';

export interface WatchDeps {
  cluster: Pick<Cluster, 'watch'>;
  changed(): void;
  log: Log;
  metrics: Pick<Metrics, 'watchRestarts'>;
}

interface Watched<Item> {
  kind: string;
  namespace: string | null;
  store: ReflectedStore<Item>;
  collection: Collection<Item>;
}

/** Keeps stores equal to their collections until the signal; settles when all watches have ended. */
export async function watchCollections<Item extends { uid: string }>(
  { cluster: { watch }, changed, log, metrics }: WatchDeps,
  watched: readonly Watched<Item>[],
  signal: AbortSignal,
): Promise<void> {
  const watches = watched.map(({ kind, namespace, store, collection }) => {
    const restarted = (reason: string, message: string) => {
      metrics.watchRestarts.inc({ kind, reason });
      if (reason === 'failed') log.warn({ kind, namespace, error: message }, 'the watch failed and restarts');
    };
    const deps = { watch, store, changed, restarted, random: Math.random, now: () => performance.now() };
    return reflect(deps, collection, signal);
  });
  await Promise.all(watches);
}

/** Keeps a world equal to the cluster until the signal. */
export const watchWorld = (
  { cluster, world, ...deps }: WatchDeps & { cluster: Cluster; world: World },
  signal: AbortSignal,
): Promise<void> =>
  watchCollections(
    { cluster, ...deps },
    world.scopes.map((scope) => ({ ...scope, collection: collectionOf(cluster, scope) })),
    signal,
  );
