import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { DefinitionKind } from '@signalbox/crds';
import { createAgentWorkloads } from './agent-workloads.ts';
import type { ManagerOptions } from './cli.ts';
import { readOperator } from './config/operator.ts';
import { createDirtyLoop } from './dirty-loop.ts';
import { startHealthServer } from './http/health-server.ts';
import { isUnavailable } from './kube/answer.ts';
import { runForLeadership } from './kube/leadership.ts';
import { writeEvent, writeStatus } from './kube/write-status.ts';
import type { CustomObject } from './objects/custom-object.ts';
import { createWorld, type World } from './objects/world.ts';
import { roomTimes } from './objects/spec-room.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import { createViews } from './observe/views.ts';
import { createMeasuredPlan } from './plan/measured-plan.ts';
import { createResting } from './plan/resting.ts';
import { nextStatus } from './status/next-status.ts';
import { definedAgents, undefinedAgents } from './status/undefined-agents.ts';
import { createStatusWriter, type StatusWriter, type Wanted } from './status/status-writer.ts';
import type { Role, RoleDeps } from './sync.ts';
import { watchWorld } from './watch-world.ts';

/** The clock of all waiting: it never steps, as the time of day may. */
const now = () => performance.now();

const KINDS: readonly DefinitionKind[] = ['Pipeline', 'LibraryStep', 'Agent'];

/** Node takes half of the memory that the chart gives. */
const USUAL_HEAP_MIB = 256;

/** Starts the role that writes the status of every object and makes the pods of agents. Throws where it cannot start. */
export async function startManager(options: ManagerOptions, { log, cluster }: RoleDeps): Promise<Role> {
  const stopping = new AbortController();
  const metrics = createMetrics();
  const world = createWorld({
    kinds: KINDS,
    namespaces: options.namespaces,
    home: cluster.namespace,
    times: roomTimes(USUAL_HEAP_MIB),
    now,
  });
  const resting = createResting(stopping.signal);
  const plan = createMeasuredPlan(
    metrics,
    readOperator({ files: options.serviceConfigs, withGateway: options.hasGatewayConfig }, cluster.namespace),
    resting,
  );
  const views = createViews(options);
  const workloads = createAgentWorkloads(options, { log, cluster, metrics, changed: () => loop.mark() });
  let leading: AbortSignal | null = null;
  const leads = () => leading !== null && !leading.aborted;
  const writer = createWriter({ world, metrics, mayWrite: leads, log, cluster });

  const loop = createDirtyLoop({
    run: async () => {
      const objects = readyObjects();
      if (objects === null) return;
      const planned = await plan(objects);
      // Another may lead by now.
      if (!leads()) return;
      const agents = definedAgents(planned, views.of('Agent'));
      const verdicts = planned.map((one) => ({ ...one, undefinedAgents: undefinedAgents(one, agents) }));
      workloads.want(verdicts);
      const time = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
      const wanted: Wanted[] = [];
      for (const verdict of verdicts) {
        await resting.rest();
        const { object } = verdict;
        wanted.push({ object, status: nextStatus(verdict, views.of(object.kind), time, workloads.stateOf(object)) });
      }
      views.hurry(wanted.some(isOutOfDate));
      const retryAt = await writer.write(wanted);
      loop.markIn(retryAt === null ? null : retryAt - now());
    },
    failed: (error) => {
      metrics.failures.inc({ loop: 'status' });
      log.warn({ err: error }, 'the statuses could not be worked out; another try follows');
    },
    random: Math.random,
  });
  const readyObjects = (): CustomObject[] | null =>
    leads() && views.known() && workloads.known() ? world.objects() : null;

  const lead = (signal: AbortSignal) => {
    leading = signal;
    metrics.leading.set(1);
    log.info({}, 'leading');
    loop.mark();
    const whileLeading = AbortSignal.any([signal, stopping.signal]);
    workloads.lead(whileLeading);
    void views.keepAsking(loop.mark, whileLeading);
  };
  const lost = () => {
    leading = null;
    metrics.leading.set(0);
    log.warn({}, 'no longer leading');
  };
  const elect = async () => {
    if (!options.leaderElect) return lead(stopping.signal);
    const identity = `${hostname()}_${randomBytes(6).toString('hex')}`;
    await runForLeadership({ cluster, identity, now, date: () => new Date(), lead, lost }, stopping.signal);
  };

  const running = [
    watchWorld({ cluster, world, changed: loop.mark, log, metrics }, stopping.signal),
    workloads.watch(stopping.signal),
    elect(),
  ];
  const health = await startHealthServer({
    host: options.host,
    port: options.port,
    notReady: () => (world.objects() === null ? 'the objects were not listed yet' : null),
    metrics: metrics.read,
  });
  return {
    url: health.url,
    close: async () => {
      const ended = loop.stop();
      stopping.abort();
      await ended;
      await workloads.stop();
      await Promise.all(running);
      await health.close();
    },
  };
}

const isOutOfDate = ({ status }: Wanted): boolean => status.conditions.some(({ reason }) => reason === 'OutOfDate');

interface Writing extends RoleDeps {
  world: World;
  metrics: Metrics;
  mayWrite(): boolean;
}

function createWriter({ world, metrics, mayWrite, log, cluster }: Writing): StatusWriter {
  return createStatusWriter({
    mayWrite,
    now,
    wait: (ms) => delay(ms),
    random: Math.random,
    write: async (object, status) => {
      const { kind, namespace, name } = object;
      const written = await writeStatus(cluster, object, status);
      metrics.statusWrites.inc({ outcome: written.ok ? 'done' : 'failed' });
      // The world gets the written object at once: its watch event would come after the next run.
      if (written.ok) {
        if (written.object) world.storeOf(written.object)?.upsert(written.object);
        return 'done';
      }
      log.warn({ kind, namespace, name, status: written.status, error: written.message }, 'a status was not written');
      return isUnavailable(written) ? 'unavailable' : 'refused';
    },
    record: async (object, transition) => {
      const written = await writeEvent(cluster, object, { ...transition, now: new Date() });
      metrics.events.inc({ outcome: written.ok ? 'done' : 'failed' });
    },
  });
}
