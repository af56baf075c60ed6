import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The series of both roles. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  return {
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
    objects: new Gauge({
      name: 'controller_objects',
      help: 'Objects by kind and by whether they are accepted',
      labelNames: ['kind', 'accepted'],
      registers,
    }),
    planSeconds: new Histogram({
      name: 'controller_plan_seconds',
      help: 'Time to check the whole set of objects',
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    watchRestarts: new Counter({
      name: 'controller_watch_restarts_total',
      help: 'Restarts of watches and lists',
      labelNames: ['kind', 'reason'],
      registers,
    }),
    filesWritten: new Counter({ name: 'controller_files_written_total', help: 'Definition files written', registers }),
    filesDeleted: new Counter({ name: 'controller_files_deleted_total', help: 'Definition files deleted', registers }),
    reloads: new Counter({
      name: 'controller_reloads_total',
      help: 'Reloads asked of the service',
      labelNames: ['outcome'],
      registers,
    }),
    leading: new Gauge({ name: 'controller_leading', help: '1 while this process leads', registers }),
    statusWrites: new Counter({
      name: 'controller_status_writes_total',
      help: 'Writes of the status subresource',
      labelNames: ['outcome'],
      registers,
    }),
    events: new Counter({
      name: 'controller_events_total',
      help: 'Events written',
      labelNames: ['outcome'],
      registers,
    }),
    agentWrites: new Counter({
      name: 'controller_agent_writes_total',
      help: 'Writes of Deployments, Services and NetworkPolicies of agents',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    failures: new Counter({
      name: 'controller_failures_total',
      help: 'Failed runs of a loop, each followed by a retry',
      labelNames: ['loop'],
      registers,
    }),
  };
}
