import type { Cluster } from './kube/cluster.ts';
import { collectionOf, reflect } from './kube/reflector.ts';
import type { Log } from './observability/log.ts';
import type { Metrics } from './observability/metrics.ts';
import type { World } from './objects/world.ts';

export interface WatchDeps {
  cluster: Cluster;
  world: World;
  changed(): void;
  log: Log;
  metrics: Pick<Metrics, 'watchRestarts'>;
}

/** Keeps a world equal to the cluster until the signal; settles when all watches have ended. */
export async function watchWorld(
  { cluster, world, changed, log, metrics }: WatchDeps,
  signal: AbortSignal,
): Promise<void> {
  const watches = world.scopes.map(({ store, ...scope }) =>
    reflect(
      {
        watch: cluster.watch,
        store,
        changed,
        random: Math.random,
        now: Date.now,
        restarted: (reason, message) => {
          metrics.watchRestarts.inc({ kind: scope.kind, reason });
          if (reason === 'failed') log.warn({ ...scope, error: message }, 'the watch failed and restarts');
        },
      },
      collectionOf(cluster, scope),
      signal,
    ),
  );
  await Promise.all(watches);
}
