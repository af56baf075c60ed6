import { PodFields, shortHash } from '@signalbox/crds';
import { GROUP } from '../objects/custom-object.ts';
import { labelsOf, selectorOf } from '../objects/child-object.ts';
import { type PodAgent, RUNNER_PORT } from '../plan/placement.ts';
import type { NamedServer, WorkloadSettings } from './settings.ts';
import { CONTAINER_SECURITY, POD_SECURITY } from './security.ts';
import { toolSidecar, toolVolumes } from './sidecar.ts';

/** Hash of what pods depend on and their template does not show, so that a change rolls them. */
export const CHECKSUM = `${GROUP}/checksum`;

const DEFAULT_DRAIN_SECONDS = 600;
const MAX_DRAIN_SECONDS = 3600;
/** Added to the time for runs: the tool servers end after the runner. */
const GRACE_SECONDS = 15;
const PROGRESS_SECONDS = 300;
const RESOURCES = { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '384Mi' } };

export interface DeploymentInput {
  agent: PodAgent;
  servers: readonly NamedServer[];
  settings: WorkloadSettings;
  publicKeys: readonly string[];
}

/** The `spec` of an agent's Deployment. */
export function agentDeployment({ agent, servers, settings, publicKeys }: DeploymentInput): Record<string, unknown> {
  const { owner, config, version } = agent;
  const { replicas } = config.runtime;
  const { labels, annotations, imagePullSecrets = [], ...placing } = PodFields.parse(config.runtime);
  const pullSecrets = new Set([...settings.pullSecrets, ...imagePullSecrets.map(({ name }) => name)]);
  return {
    // Left out where the Agent sets no number: then an autoscaler may set it, and Kubernetes starts with one.
    ...(replicas === undefined ? {} : { replicas }),
    revisionHistoryLimit: 2,
    progressDeadlineSeconds: PROGRESS_SECONDS,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    selector: { matchLabels: selectorOf(owner) },
    template: {
      // What decides who may reach a pod stays ours.
      metadata: {
        labels: { ...labels, ...labelsOf(owner) },
        annotations: { ...annotations, [CHECKSUM]: shortHash({ version, servers }) },
      },
      spec: {
        ...placing,
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: drainSeconds(agent) + GRACE_SECONDS,
        securityContext: POD_SECURITY,
        ...(pullSecrets.size === 0 ? {} : { imagePullSecrets: [...pullSecrets].map((name) => ({ name })) }),
        initContainers: servers.map(toolSidecar),
        containers: [runner(agent, settings, publicKeys)],
        volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }, ...servers.flatMap(toolVolumes)],
      },
    },
  };
}

function runner(agent: PodAgent, settings: WorkloadSettings, publicKeys: readonly string[]) {
  const { config, owner } = agent;
  return {
    name: 'agent',
    image: settings.image,
    imagePullPolicy: settings.pullPolicy,
    args: ['agent-runner'],
    env: [
      { name: 'AGENT_NAME', value: config.name },
      { name: 'AGENT_NAMESPACE', value: owner.namespace },
      { name: 'GATEWAY_PUBLIC_KEY', value: publicKeys.join('') },
      { name: 'RUNNER_PORT', value: String(RUNNER_PORT) },
      { name: 'RUNNER_DRAIN_SECONDS', value: String(drainSeconds(agent)) },
    ],
    ports: [{ name: 'rpc', containerPort: RUNNER_PORT, protocol: 'TCP' }],
    startupProbe: { ...PROBE, periodSeconds: 1, failureThreshold: 60 },
    readinessProbe: { ...PROBE, periodSeconds: 5, failureThreshold: 3 },
    livenessProbe: { ...PROBE, periodSeconds: 20, failureThreshold: 3 },
    resources: config.runtime.resources ?? RESOURCES,
    securityContext: { ...CONTAINER_SECURITY, readOnlyRootFilesystem: true },
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  };
}

const PROBE = { httpGet: { path: '/health', port: 'rpc' }, timeoutSeconds: 3 };

/** How long a run may continue after its pod was asked to stop: the timeout of the agent's runs. */
function drainSeconds({ config }: PodAgent): number {
  return Math.min(config.limits.timeout_seconds ?? DEFAULT_DRAIN_SECONDS, MAX_DRAIN_SECONDS);
}
