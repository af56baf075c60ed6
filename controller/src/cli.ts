import { parseArgs } from 'node:util';
import type { DefinitionKind } from '@signalbox/crds';
import { usageProblem } from '@signalbox/crds/process/command-line';
import { readRunnerOptions, RUNNER_FLAGS, type RunnerOptions, words } from './config/runner-options.ts';
import { isKind } from './objects/custom-object.ts';

export interface CommonOptions {
  /** Empty watches all. */
  namespaces: string[];
  host: string;
  port: number;
}

export interface SyncOptions extends CommonOptions {
  kinds: DefinitionKind[];
  dir: string;
  reloadUrl: string | null;
  reloadTokenFile: string | null;
  serviceConfigs: string[];
}

export interface ManagerOptions extends CommonOptions {
  serviceConfigs: string[];
  /** Whether the gateway's is among them. */
  hasGatewayConfig: boolean;
  apiServerUrl: string | null;
  gatewayUrl: string | null;
  viewerTokenFile: string | null;
  invokeTokenFile: string | null;
  caFile: string | null;
  leaderElect: boolean;
  /** Null where agents get no pods. */
  runner: RunnerOptions | null;
}

export type Command =
  | { role: 'help' }
  | { role: 'version' }
  | { role: 'error'; message: string }
  | { role: 'sync'; options: SyncOptions }
  | { role: 'manager'; options: ManagerOptions };

export const HELP = `signalbox controller: brings Kubernetes objects to the services

usage: npm run controller -- sync --kinds KINDS --dir DIR --reload-url URL [options]
       npm run controller -- manager [options]

sync: writes the objects as files and asks the service to reload them
  --kinds KINDS               Pipeline, LibraryStep, Agent; separated by commas
  --dir DIR                   the directory that the service reads as its managed_dir
  --reload-url URL            where to POST after files changed
  --reload-token-file FILE    bearer token of that request
  --service-config FILE       configuration file of the service, which says what its operator allows; repeatable

manager: writes the status of every object and makes the pods of agents
  --api-server-config FILE    configuration files of the services, which say what their operator allows
  --gateway-config FILE
  --api-server-url URL        the services to ask what they serve; each address of the host is a replica.
  --gateway-url URL           Without the URL of a service its objects stay Synced=Unknown
  --viewer-token-file FILE    bearer token for the api-server
  --invoke-token-file FILE    bearer token for the gateway
  --ca FILE                   certificate authority of both services
  --leader-elect=false        takes no Lease; for a single process
  --runner-image IMAGE        image of the pods of agents; without it no pods are made
  --runner-pull-policy WORD   Always, IfNotPresent (default) or Never
  --runner-pull-secrets a,b   pull secrets in the agents' namespaces
  --gateway-namespace NAME    namespace of the gateway, which alone may connect to those pods; default: the manager's
  --gateway-labels k=v,k=v    labels of the gateway's pods

both:
  --namespaces a,b            watches only these namespaces; default: all
  --host ADDRESS              address of /healthz, /readyz and /metrics (default 127.0.0.1)
  --port N                    port of the same; 0 (default) takes a free one
  --version, --help

The cluster comes from KUBECONFIG, ~/.kube/config or the service account of the pod.
`;

const OPTIONS = {
  kinds: { type: 'string' },
  dir: { type: 'string' },
  'reload-url': { type: 'string' },
  'reload-token-file': { type: 'string' },
  'service-config': { type: 'string', multiple: true },
  'api-server-config': { type: 'string' },
  'gateway-config': { type: 'string' },
  'api-server-url': { type: 'string' },
  'gateway-url': { type: 'string' },
  'viewer-token-file': { type: 'string' },
  'invoke-token-file': { type: 'string' },
  ca: { type: 'string' },
  'leader-elect': { type: 'string' },
  ...RUNNER_FLAGS,
  namespaces: { type: 'string' },
  host: { type: 'string' },
  port: { type: 'string' },
  help: { type: 'boolean' },
  version: { type: 'boolean' },
} as const;

/** Reads the command line; an error comes back as one sentence. */
export function readCommand(argv: readonly string[]): Command {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
    if (values.help) return { role: 'help' };
    if (values.version) return { role: 'version' };
    const [role, ...rest] = positionals;
    if (rest.length > 0) return error(`unexpected argument "${rest[0]}"`);
    if (role === 'sync') return syncCommand(values);
    if (role === 'manager') return managerCommand(values);
    return error('name the role to run: sync or manager');
  } catch (cause) {
    return error(usageProblem(cause));
  }
}

type Values = Partial<Record<Exclude<keyof typeof OPTIONS, 'service-config' | 'help' | 'version'>, string>> & {
  'service-config'?: string[];
};

function syncCommand(values: Values): Command {
  const kinds = words(values.kinds);
  const unknown = kinds.find((kind) => !isKind(kind));
  if (unknown !== undefined) return error(`--kinds: unknown kind "${unknown}"; use Pipeline, LibraryStep or Agent`);
  if (kinds.length === 0) return error('--kinds is required, for example Pipeline,LibraryStep');
  if (values.dir === undefined) return error('--dir is required');
  const reloadUrl = values['reload-url'] ?? null;
  const common = commonOptions(values);
  if (common === null) return error('--port must be a number from 0 to 65535');
  if (!isAddress(reloadUrl)) return error('--reload-url must be a URL with http:// or https://');
  return {
    role: 'sync',
    options: {
      ...common,
      kinds: kinds.filter(isKind),
      dir: values.dir,
      reloadUrl,
      reloadTokenFile: values['reload-token-file'] ?? null,
      serviceConfigs: values['service-config'] ?? [],
    },
  };
}

function managerCommand(values: Values): Command {
  const common = commonOptions(values);
  if (common === null) return error('--port must be a number from 0 to 65535');
  const { 'leader-elect': elect = 'true' } = values;
  if (elect !== 'true' && elect !== 'false') return error('--leader-elect must be true or false');
  const urls = { apiServerUrl: values['api-server-url'] ?? null, gatewayUrl: values['gateway-url'] ?? null };
  if (!Object.values(urls).every(isAddress))
    return error('--api-server-url and --gateway-url must be URLs with http:// or https://');
  const runner = readRunnerOptions(values);
  if (typeof runner === 'string') return error(runner);
  return {
    role: 'manager',
    options: {
      ...common,
      runner,
      ...urls,
      ...filesOf(values),
      serviceConfigs: [values['api-server-config'], values['gateway-config']].filter((file) => file !== undefined),
      hasGatewayConfig: values['gateway-config'] !== undefined,
      leaderElect: elect === 'true',
    },
  };
}

const filesOf = (values: Values) => ({
  viewerTokenFile: values['viewer-token-file'] ?? null,
  invokeTokenFile: values['invoke-token-file'] ?? null,
  caFile: values.ca ?? null,
});

function commonOptions({ namespaces, host = '127.0.0.1', port = '0' }: Values): CommonOptions | null {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) return null;
  return { namespaces: words(namespaces), host, port: Number(port) };
}

const isAddress = (text: string | null): boolean => text === null || /^https?:\/\//.test(text);

const error = (message: string): Command => ({ role: 'error', message });
