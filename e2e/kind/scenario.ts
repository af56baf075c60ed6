/** What a user of a cluster sees: objects become live, an alert becomes a run, an upgrade loses none. */
import { waitFor } from '../support/wait-for.ts';
import type { Cluster } from './cluster.ts';
import { uninstall, upgrade } from './install.ts';
import { brokenRules, fireAlert, queryPrometheus, SCRAPED, seriesWhere, startMonitoring } from './monitoring.ts';
import { ensure, step } from './progress.ts';
import { allReady, connect, NAMESPACE, type Release, RELEASE } from './release.ts';

interface Detail {
  steps: { step_name: string; agent: string | null; status: string; raw_response: unknown }[];
}

interface Pods {
  items: {
    metadata: { name: string };
    spec: { initContainers?: { name: string; restartPolicy?: string }[] };
    status: { phase: string; containerStatuses?: { ready: boolean }[]; initContainerStatuses?: { ready: boolean }[] };
  }[];
}

const NODE_LOAD = { alertname: 'NodeHighLoad', severity: 'critical' };
const SLOW = { alertname: 'SlowOne', severity: 'warning' };

/** A pipeline whose agent takes its time, so that an upgrade comes in the middle of a run. */
const slowObjects = [
  {
    apiVersion: 'signalbox.dev/v1alpha1',
    kind: 'Agent',
    metadata: { name: 'slow-thinker' },
    spec: {
      model: 'demo/scripted',
      limits: { timeout_seconds: 60 },
      soul: 'You take your time.\n\n```demo\ndelay_ms: 8000\nanswer: {confidence: 1, summary: thought about it}\n```\n',
    },
  },
  {
    apiVersion: 'signalbox.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'slow-one' },
    spec: {
      stage: 'production',
      trigger: { match: { alertname: 'SlowOne' } },
      steps: ['first', 'second'].map((name) => ({
        name,
        executor: 'gateway',
        agent: 'slow-thinker',
        prompt_template: '{{summary}}',
        retry: { attempts: 3, backoff: 'fixed', delay_seconds: 2 },
      })),
    },
  },
];

export async function serveAlerts(cluster: Cluster): Promise<void> {
  await step('config/samples are applied and Ready', async () => {
    await cluster.kubectl(['-n', NAMESPACE, 'apply', '-k', 'config/samples']);
    await allReady(cluster, NAMESPACE);
  });
  await step('an agent runs in a pod with its tool server beside it', () => toolServerRuns(cluster));
  const release = await connect(cluster);
  try {
    await step('Alertmanager and Prometheus start', () =>
      startMonitoring(cluster, {
        release: RELEASE,
        namespace: NAMESPACE,
        webhookToken: release.tokens['webhook-token'] ?? '',
      }),
    );
    await step('an alert through Alertmanager becomes a completed run', () => alertBecomesRun(cluster, release));
    await step('Prometheus scrapes every part, and evaluates every rule', () => metricsArrive(cluster));
    await step('an upgrade rolls every part and loses no run', () => upgradeLosesNothing(cluster, release));
  } finally {
    release.close();
  }
  await step('after the uninstall only the objects, what they own and the token Secret are left', () =>
    uninstall(cluster),
  );
}

async function toolServerRuns(cluster: Cluster): Promise<void> {
  const probe = async () => {
    const { items } = await cluster.read<Pods>('-n', NAMESPACE, 'get', 'pods', '-l', 'signalbox.dev/agent=node-reader');
    const found = items.map(({ spec, status: { containerStatuses = [], initContainerStatuses = [] } }) => ({
      beside: spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
      ready: [...initContainerStatuses, ...containerStatuses].map(({ ready }) => ready),
    }));
    const said = JSON.stringify(found);
    ensure(said === '[{"beside":["tool-machine"],"ready":[true,true]}]', `the pods of node-reader are ${said}`);
    return true;
  };
  await waitFor(probe, { what: 'one ready pod of node-reader', timeoutMs: 60_000, everyMs: 500 });
}

async function alertBecomesRun(cluster: Cluster, release: Release): Promise<void> {
  const summary = 'The load of node n1 is high';
  await fireAlert(cluster, { ...NODE_LOAD, instance: 'n1' }, summary);
  const run = await release.ended(summary);
  ensure(
    run.status === 'completed' && run.pipeline_name === 'node-load',
    `the run ended otherwise: ${JSON.stringify(run)}`,
  );
  const { steps } = await release.get<Detail>(`/runs/${run.id}`);
  const said = steps.map(({ step_name, agent, status }) => `${step_name} ${agent} ${status}`).join(', ');
  ensure(said === 'observe node-reader completed, triage node-triage completed', `the steps are ${said}`);
}

async function metricsArrive(cluster: Cluster): Promise<void> {
  await seriesWhere(
    cluster,
    'service_pipeline_runs_total{pipeline="node-load",status="completed"}',
    (value) => value >= 1,
  );
  // The agent's calls of the tool server in its own pod, as the gateway counts them.
  await seriesWhere(
    cluster,
    'gateway_tool_calls_total{server="machine",tool="read_load",outcome="ok"}',
    (value) => value >= 2,
  );
  await seriesWhere(cluster, 'controller_leading', (value) => value === 1);
  await waitFor(
    async () => {
      const up = await queryPrometheus(cluster, 'up == 1');
      const scraped = new Set(up.map(({ metric }) => metric['job']));
      const missing = SCRAPED.filter((place) => !scraped.has(place));
      ensure(missing.length === 0, `not scraped: ${missing.join(', ')}`);
      return true;
    },
    { what: 'every part to be scraped', timeoutMs: 60_000, everyMs: 1000 },
  );
  const broken = await brokenRules(cluster);
  ensure(broken.length === 0, `rules that Prometheus cannot evaluate: ${broken.join('; ')}`);
}

async function upgradeLosesNothing(cluster: Cluster, release: Release): Promise<void> {
  await cluster.apply(NAMESPACE, ...slowObjects);
  await allReady(cluster, NAMESPACE);
  const before = ['a', 'b', 'c'].map((name) => `in the middle of the upgrade: ${name}`);
  for (const summary of before) await release.webhook({ ...SLOW, instance: summary }, summary);
  const upgrading = upgrade(cluster);
  const during = ['d', 'e'].map((name) => `while it goes on: ${name}`);
  for (const summary of during) await fireAlert(cluster, { ...SLOW, instance: summary }, summary);
  await upgrading;
  await release.reconnect();
  for (const summary of [...before, ...during]) {
    const run = await release.ended(summary);
    ensure(run.status === 'completed', `"${summary}" ended ${run.status}`);
  }
  const { version, max_concurrent_runs: max } = await release.get<{ version: string; max_concurrent_runs: number }>(
    '/health',
  );
  ensure(max === 7, `version ${version} runs with the old configuration: max_runs ${max}`);
  await allReady(cluster, NAMESPACE);
}
