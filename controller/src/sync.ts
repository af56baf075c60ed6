import type { SyncOptions } from './cli.ts';
import { readOperator } from './config/operator.ts';
import { createDirtyLoop } from './dirty-loop.ts';
import { openManagedDirectory } from './files/managed-directory.ts';
import { startHealthServer } from './http/health-server.ts';
import type { Cluster } from './kube/cluster.ts';
import { createLetGo } from './let-go.ts';
import { createWorld } from './objects/world.ts';
import type { Log } from './observability/log.ts';
import { createMetrics } from './observability/metrics.ts';
import { createCachedPlan } from './plan/cached-plan.ts';
import { countVerdicts, timedPlan } from './plan/measured-plan.ts';
import { postReload } from './sync/reload.ts';
import { syncOnce } from './sync/sync-once.ts';
import { watchWorld } from './watch-world.ts';

export interface RoleDeps {
  log: Log;
  cluster: Cluster;
}

export interface SyncDeps extends RoleDeps {
  /** Told before and after every change on the disk. */
  fileStep?: () => void;
}

export interface Role {
  url: string;
  close(): Promise<void>;
}

/** Starts the sidecar: objects -> files -> one reload of the service a batch (Design 7). Throws where it cannot start. */
export async function startSync(options: SyncOptions, { log, cluster, fileStep }: SyncDeps): Promise<Role> {
  const { kinds, namespaces, dir, reloadUrl, reloadTokenFile, serviceConfigs, host, port } = options;
  const metrics = createMetrics();
  const plan = timedPlan(metrics, createCachedPlan(readOperator(serviceConfigs)));
  const world = createWorld({ kinds, namespaces, now: Date.now });
  const directory = await openManagedDirectory(dir, kinds, fileStep);
  const failed = (loop: string) => (error: unknown) => {
    metrics.failures.inc({ loop });
    log.warn({ loop, error: error instanceof Error ? error.message : String(error) }, 'tried again soon');
  };
  const reload = createDirtyLoop({
    run: async () => {
      if (reloadUrl === null) return;
      await postReload({ url: reloadUrl, tokenFile: reloadTokenFile }).catch((error: unknown) => {
        metrics.reloads.inc({ outcome: 'failed' });
        throw error;
      });
      metrics.reloads.inc({ outcome: 'done' });
    },
    failed: failed('reload'),
    random: Math.random,
  });
  const letGo = createLetGo();
  let ready = false;
  const loop = createDirtyLoop({
    run: async () => {
      const done = await syncOnce({
        directory,
        objects: world.objects,
        isGone: world.isGone,
        plan,
        report: ({ written, deleted }, verdicts) => {
          metrics.filesWritten.inc(written);
          metrics.filesDeleted.inc(deleted);
          countVerdicts(metrics, verdicts);
          if (written + deleted > 0) log.info({ written, deleted }, 'files changed');
          // Once after the start too: a crash may have come between a file and its reload.
          if (written + deleted > 0 || !ready) reload.mark();
        },
      });
      if (done && !ready) log.info({ objects: world.objects()?.length }, 'synced');
      ready ||= done;
      letGo.worked();
    },
    failed: failed('sync'),
    random: Math.random,
  });
  const stopping = new AbortController();
  const watching = watchWorld({ cluster, world, changed: loop.mark, log, metrics }, stopping.signal);
  const health = await startHealthServer({
    host,
    port,
    notReady: () => (ready ? null : 'the first full sync is not done'),
    metrics: metrics.read,
  });
  return {
    url: health.url,
    close: async () => {
      stopping.abort();
      letGo.stop();
      await watching;
      await loop.stop();
      await reload.stop();
      await health.close();
    },
  };
}
