import { shortHash } from '@signalbox/crds';
import type { NamedServer } from './settings.ts';
import { CONTAINER_SECURITY } from './security.ts';

const RESOURCES = { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '512Mi' } };
/** Five minutes to start. */
const START_FAILURES = 150;

/** A tool server in the agent's pod: a native sidecar, which starts before the runner and ends after it. */
export function toolSidecar({ name, server }: NamedServer) {
  const { image, command, args, port, env, env_from: envFrom, volumes, resources } = server;
  const probe = { tcpSocket: { port }, timeoutSeconds: 3 };
  return {
    name: containerName(name),
    image,
    imagePullPolicy: 'IfNotPresent',
    restartPolicy: 'Always',
    ...(command && { command }),
    ...(args && { args }),
    ...(envFrom && {
      envFrom: envFrom.map(({ secret, configMap, prefix }) => ({
        ...(secret && { secretRef: { name: secret.name } }),
        ...(configMap && { configMapRef: { name: configMap.name } }),
        ...(prefix !== undefined && { prefix }),
      })),
    }),
    env: Object.entries(env)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) =>
        typeof value === 'string'
          ? { name: key, value }
          : { name: key, valueFrom: { secretKeyRef: { name: value.secret.name, key: value.secret.key } } },
      ),
    ports: [{ containerPort: port, protocol: 'TCP' }],
    startupProbe: { ...probe, periodSeconds: 2, failureThreshold: START_FAILURES },
    readinessProbe: { ...probe, periodSeconds: 10, failureThreshold: 3 },
    livenessProbe: { ...probe, periodSeconds: 20, failureThreshold: 6 },
    resources: resources ?? RESOURCES,
    securityContext: CONTAINER_SECURITY,
    ...(volumes && {
      volumeMounts: volumes.map(({ mount_path: mountPath, emptyDir }, index) => ({
        name: volumeName(name, index),
        mountPath,
        ...(!emptyDir && { readOnly: true }),
      })),
    }),
  };
}

/** The volumes of the pod that only this server mounts. */
export function toolVolumes({ name, server }: NamedServer) {
  return (server.volumes ?? []).map(({ emptyDir, configMap, secret }, index) => ({
    name: volumeName(name, index),
    ...(emptyDir && { emptyDir }),
    ...(configMap && { configMap }),
    ...(secret && { secret: { secretName: secret.name, ...(secret.items && { items: secret.items }) } }),
  }));
}

const volumeName = (server: string, index: number) => `${containerName(server)}-${index}`;

/** A DNS label has 63 characters; three of them number a volume. */
const MAX_NAME = 60;

/** A server's name as a DNS label; a changed name ends in a hash, so that two servers never share one. */
function containerName(server: string): string {
  const plain = `tool-${server}`;
  if (/^[a-z0-9-]+$/.test(plain) && !plain.endsWith('-') && plain.length <= MAX_NAME) return plain;
  const hash = shortHash(server).slice(0, 8);
  return `${plain
    .toLowerCase()
    .replaceAll('_', '-')
    .slice(0, MAX_NAME - 9)}-${hash}`;
}
