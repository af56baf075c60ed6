import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { DefinitionKind } from '@signalbox/crds';
import type { ManagerOptions } from './cli.ts';
import { readOperator } from './config/operator.ts';
import { createDirtyLoop } from './dirty-loop.ts';
import { startHealthServer } from './http/health-server.ts';
import { createLetGo } from './let-go.ts';
import { runForLeadership } from './kube/leadership.ts';
import { writeEvent, writeStatus } from './kube/write-status.ts';
import { createWorld, type World } from './objects/world.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import { createAskReplicas } from './observe/ask-replicas.ts';
import { readAgents, readDefinitions, type ServiceView } from './observe/service-view.ts';
import { createCachedPlan } from './plan/cached-plan.ts';
import { countVerdicts, timedPlan } from './plan/measured-plan.ts';
import { nextStatus } from './status/next-status.ts';
import { createStatusWriter, type StatusWriter } from './status/status-writer.ts';
import type { Role, RoleDeps } from './sync.ts';
import { watchWorld } from './watch-world.ts';
import { createAgentWorkloads } from './agent-workloads.ts';

const KINDS: readonly DefinitionKind[] = ['Pipeline', 'LibraryStep', 'Agent'];
const ASK_MS = 10_000;
/** While a replica is behind: people wait for it. */
const HURRY_MS = 1000;

/** Starts the role that says on every object what became of it (Design 7). Throws where it cannot start. */
export async function startManager(options: ManagerOptions, { log, cluster }: RoleDeps): Promise<Role> {
  const metrics = createMetrics();
  const plan = timedPlan(metrics, createCachedPlan(readOperator(options.serviceConfigs)));
  const world = createWorld({ kinds: KINDS, namespaces: options.namespaces, now: Date.now });
  const views = createViews(options);
  const stopping = new AbortController();
  let leading: AbortSignal | null = null;
  let again: NodeJS.Timeout | null = null;
  let hurry = false;
  const letGo = createLetGo();

  const writer = createWriter(world, { log, cluster }, metrics);
  const workloads = createAgentWorkloads(options, { log, cluster, metrics, changed: () => loop.mark() });
  const loop = createDirtyLoop({
    run: async () => {
      const objects = world.objects();
      if (objects === null || leading === null || leading.aborted || !views.known() || !workloads.known()) return;
      const verdicts = plan(objects);
      countVerdicts(metrics, verdicts);
      workloads.want(verdicts);
      const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
      const wanted = verdicts.map((verdict) => ({
        object: verdict.object,
        status: nextStatus(verdict, views.of(verdict.object.kind), now, workloads.stateOf(verdict.object)),
      }));
      hurry = wanted.some(({ status }) => status.conditions.some(({ reason }) => reason === 'OutOfDate'));
      const next = await writer.write(wanted);
      letGo.worked();
      if (again) clearTimeout(again);
      again = next === null ? null : setTimeout(loop.mark, Math.max(0, next - Date.now()));
    },
    failed: (error) => {
      metrics.failures.inc({ loop: 'status' });
      log.warn({ error: error instanceof Error ? error.message : String(error) }, 'tried again soon');
    },
    random: Math.random,
  });

  const lead = (signal: AbortSignal) => {
    leading = signal;
    metrics.leading.set(1);
    log.info({}, 'leading');
    loop.mark();
    const whileLeading = AbortSignal.any([signal, stopping.signal]);
    workloads.lead(whileLeading);
    void views.keepAsking({ changed: loop.mark, hurry: () => hurry }, whileLeading);
  };
  const lost = () => {
    leading = null;
    metrics.leading.set(0);
    log.warn({}, 'no longer leading');
  };
  const identity = `${hostname()}_${randomBytes(6).toString('hex')}`;
  const running = [
    watchWorld({ cluster, world, changed: loop.mark, log, metrics }, stopping.signal),
    workloads.watch(stopping.signal),
    ...(options.leaderElect
      ? [runForLeadership({ cluster, identity, now: Date.now, lead, lost }, stopping.signal)]
      : []),
  ];
  if (!options.leaderElect) lead(stopping.signal);
  const health = await startHealthServer({
    host: options.host,
    port: options.port,
    notReady: () => (world.objects() === null ? 'the objects were not listed yet' : null),
    metrics: metrics.read,
  });
  return {
    url: health.url,
    close: async () => {
      stopping.abort();
      letGo.stop();
      if (again) clearTimeout(again);
      await loop.stop();
      await workloads.stop();
      await Promise.all(running);
      await health.close();
    },
  };
}

function createWriter(world: World, { log, cluster }: RoleDeps, metrics: Metrics): StatusWriter {
  return createStatusWriter({
    now: Date.now,
    random: Math.random,
    write: async (object, status) => {
      const { kind, namespace, name } = object;
      const written = await writeStatus(cluster, object, status);
      metrics.statusWrites.inc({ outcome: written.ok ? 'done' : 'failed' });
      if (!written.ok)
        log.warn({ kind, namespace, name, status: written.status, error: written.message }, 'a status was not written');
      // What was written is known at once: the watch would tell of it too late for the next run.
      else if (written.object) world.storeOf(written.object)?.upsert(written.object);
      return written.ok;
    },
    tell: async (object, transition) => {
      const told = await writeEvent(cluster, object, { ...transition, now: new Date().toISOString() });
      metrics.events.inc({ outcome: told.ok ? 'done' : 'failed' });
    },
  });
}

interface Views {
  /** Every service that has an address was asked once: before that nothing can be said of it. */
  known(): boolean;
  of(kind: DefinitionKind): ServiceView;
  keepAsking(asker: { changed(): void; hurry(): boolean }, signal: AbortSignal): Promise<void>;
}

/** What the services said last; asked every ten seconds while leading. */
function createViews({ apiServerUrl, gatewayUrl, viewerTokenFile, invokeTokenFile, caFile }: ManagerOptions): Views {
  const ask = createAskReplicas(caFile);
  let apiServer: ServiceView = { asked: false };
  let gateway: ServiceView = { asked: false };
  return {
    known: () => (apiServerUrl === null || apiServer.asked) && (gatewayUrl === null || gateway.asked),
    of: (kind) => (kind === 'Agent' ? gateway : apiServer),
    keepAsking: async ({ changed, hurry }, signal) => {
      if (apiServerUrl === null && gatewayUrl === null) return;
      while (!signal.aborted) {
        const [first, second] = await Promise.all([
          apiServerUrl === null
            ? apiServer
            : ask({ url: apiServerUrl, path: '/definitions', tokenFile: viewerTokenFile, read: readDefinitions }),
          gatewayUrl === null
            ? gateway
            : ask({ url: gatewayUrl, path: '/agents', tokenFile: invokeTokenFile, read: readAgents }),
        ]);
        apiServer = first;
        gateway = second;
        changed();
        for (let waited = 0; waited < ASK_MS && !signal.aborted; waited += HURRY_MS) {
          await delay(HURRY_MS, undefined, { signal }).catch(() => undefined);
          if (hurry()) break;
        }
      }
    },
  };
}
