import { join } from 'node:path';
import { call } from '../support/call.ts';
import { ROOT, type Service, startProcess } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import type { ControlPlane } from './start-control-plane.ts';

interface Container {
  name: string;
  args?: string[];
  env?: { name: string; value?: string }[];
}
interface Deployment {
  metadata: { generation: number };
  spec: { replicas: number; template: { spec: { containers: Container[]; initContainers: Container[] } } };
}

/** An agent's pod: its runner as a process on loopback. */
export interface Pod extends Service {
  activeRuns(): Promise<number>;
}

/**
 * Does what the Deployment's controller and a kubelet would: starts the runner of every replica with the arguments and the
 * environment of the template, each on its own port, and reports them in the status.
 */
export async function startPods(plane: ControlPlane, deployment: string, ports: readonly number[]): Promise<Pod[]> {
  const read = async () => {
    const text = await plane.kubectl(['get', 'deployment', deployment, '--ignore-not-found', '-o', 'json']);
    return text === '' ? null : (JSON.parse(text) as Deployment);
  };
  const { metadata, spec } = await waitFor(read, { what: `deployment ${deployment}`, timeoutMs: 60_000 });
  const [runner] = spec.template.spec.containers;
  if (runner?.args?.join() !== 'agent-runner') throw new Error(`the container is started with ${runner?.args?.join()}`);
  const env = Object.fromEntries((runner.env ?? []).map(({ name, value }) => [name, value]));
  const pods = await Promise.all(
    ports
      .slice(0, spec.replicas)
      .map((port) => startPod({ ...env, RUNNER_HOST: '127.0.0.1', RUNNER_PORT: String(port) })),
  );
  await markAvailable(plane, deployment, { generation: metadata.generation, count: pods.length });
  return pods;
}

async function startPod(env: Record<string, string | undefined>): Promise<Pod> {
  const command = { command: process.execPath, args: [join(ROOT, 'gateway/runner.mjs')] };
  const service = await startProcess('agent-runner', command, { env });
  const activeRuns = async () => (await call<{ active_runs: number }>(`${service.url}/health`)).body.active_runs;
  return Object.assign(service, { activeRuns });
}

/** The status of a Deployment whose pods are all ready. */
export async function markAvailable(
  { kubectl }: Pick<ControlPlane, 'kubectl'>,
  deployment: string,
  { generation, count }: { generation: number; count: number },
): Promise<void> {
  const since = new Date().toISOString();
  const condition = (type: string, reason: string) => ({
    type,
    status: 'True',
    reason,
    message: reason,
    lastUpdateTime: since,
    lastTransitionTime: since,
  });
  const conditions = [
    condition('Available', 'MinimumReplicasAvailable'),
    condition('Progressing', 'NewReplicaSetAvailable'),
  ];
  const counts = { replicas: count, readyReplicas: count, availableReplicas: count, updatedReplicas: count };
  const patch = JSON.stringify({ status: { observedGeneration: generation, ...counts, conditions } });
  await kubectl(['patch', 'deployment', deployment, '--subresource=status', '--type=merge', '-p', patch]);
}
