import { inTurns } from '@signalbox/crds';
import type { SyncOptions } from './cli.ts';
import { readOperator } from './config/operator.ts';
import { createDirtyLoop } from './dirty-loop.ts';
import { type Applied, openManagedDirectory } from './files/managed-directory.ts';
import { startHealthServer } from './http/health-server.ts';
import type { Cluster } from './kube/cluster.ts';
import { createWorld } from './objects/world.ts';
import { roomTimes } from './objects/spec-room.ts';
import type { Log } from './observability/log.ts';
import { createMetrics } from './observability/metrics.ts';
import { planningFiles } from './plan/file-plan.ts';
import { createMeasuredPlan } from './plan/measured-plan.ts';
import { createResting } from './plan/resting.ts';
import { postReload } from './sync/reload.ts';
import { watchWorld } from './watch-world.ts';

export interface RoleDeps {
  log: Log;
  cluster: Cluster;
}

export interface SyncDeps extends RoleDeps {
  /** Called before and after every change on the disk. */
  fileStep?: () => void;
}

export interface Role {
  url: string;
  close(): Promise<void>;
}

/** Node takes half of the memory that the chart gives. */
const USUAL_HEAP_MIB = 128;

/** Starts the sidecar: objects -> files -> one reload of the service a batch. Throws where it cannot start. */
export async function startSync(options: SyncOptions, { log, cluster, fileStep }: SyncDeps): Promise<Role> {
  const { kinds, namespaces, dir, reloadUrl, reloadTokenFile, serviceConfigs, host, port } = options;
  const stopping = new AbortController();
  const metrics = createMetrics();
  const times = roomTimes(USUAL_HEAP_MIB);
  const world = createWorld({ kinds, namespaces, home: cluster.namespace, times, now: () => performance.now() });
  const resting = createResting(stopping.signal);
  const operator = readOperator({ files: serviceConfigs, withGateway: kinds.includes('Agent') }, cluster.namespace);
  const plan = createMeasuredPlan(metrics, operator, resting);
  const rules = { home: cluster.namespace, tenancy: operator?.tenancy };
  const directory = await openManagedDirectory(dir, kinds, fileStep);
  let ready = false;

  const failed = (loop: string) => (error: unknown) => {
    metrics.failures.inc({ loop });
    log.warn({ loop, err: error }, 'the work failed; another try follows');
  };
  const reload = createDirtyLoop({
    run: async () => {
      if (reloadUrl === null) return;
      const done = postReload({ url: reloadUrl, tokenFile: reloadTokenFile });
      await done.catch(() => metrics.reloads.inc({ outcome: 'failed' }));
      await done;
      metrics.reloads.inc({ outcome: 'done' });
    },
    failed: failed('reload'),
    random: Math.random,
    // The changes of a batch are together already.
    quietMs: 0,
  });
  const report = ({ written, deleted }: Applied, objects: number) => {
    metrics.filesWritten.inc(written);
    metrics.filesDeleted.inc(deleted);
    const changed = written + deleted > 0;
    if (changed) log.info({ written, deleted }, 'files changed');
    // After the start too: the process before may have died between a file and its reload.
    if (changed || !ready) reload.mark();
    if (!ready) log.info({ objects }, 'synced');
    ready = true;
  };
  const loop = createDirtyLoop({
    run: async () => {
      const objects = world.objects();
      if (objects === null) return;
      const verdicts = await plan(objects);
      const { owners, ...known } = directory;
      const input = { ...known, verdicts, ...rules, owners: owners(), isGone: world.isGone };
      const files = await inTurns(planningFiles(input), resting);
      report(await directory.apply(files), objects.length);
    },
    failed: failed('sync'),
    random: Math.random,
  });

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
      const ended = loop.stop();
      stopping.abort();
      await Promise.all([watching, ended]);
      await reload.stop();
      await health.close();
    },
  };
}
