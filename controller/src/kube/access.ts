import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { HttpAgent } from '../net/http.ts';
import { type Context, isPlain, readContext } from './kubeconfig.ts';

/** Where the API server is, and who is calling. */
export interface Access {
  /** Without a slash at the end. */
  server: string;
  /** The namespace of the caller. */
  namespace: string;
  /** Read anew, as tokens are replaced well before they end. Rejects where they cannot be. */
  credentials(): Promise<Credentials>;
}

export interface Credentials {
  headers: Record<string, string>;
  agent: HttpAgent | HttpsAgent;
}

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** A file that is given, KUBECONFIG, ~/.kube/config or the account of the pod, in this order. Throws where one cannot be read. */
export function openAccess(env: NodeJS.ProcessEnv, kubeconfig?: string): Access {
  const home = join(env['HOME'] ?? '/', '.kube/config');
  const paths = kubeconfig ?? env['KUBECONFIG'] ?? (existsSync(home) ? home : undefined);
  if (paths !== undefined) return ofKubeconfig(paths, kubeconfig);
  const host = env['KUBERNETES_SERVICE_HOST'];
  if (host === undefined) throw new Error('no cluster: set KUBECONFIG, or run in a pod');
  return ofAccount(host, env['KUBERNETES_SERVICE_PORT'] ?? '443');
}

function ofKubeconfig(paths: string, given: string | undefined): Access {
  const context = readContext(paths);
  const server = context.cluster.server.replace(/\/$/, '');
  const { namespace } = context;
  if (!isPlain(context)) return { server, namespace, credentials: () => throughLibrary(given) };
  const keepAgent = agentKeeper(server);
  return {
    server,
    namespace,
    credentials: async () => {
      const { token = null, tokenFile } = context.user;
      const bearer = tokenFile === undefined ? token : (await readFile(tokenFile, 'utf8')).trim();
      return { headers: authorization(bearer), agent: keepAgent(await tlsOf(context)) };
    },
  };
}

function ofAccount(host: string, port: string): Access {
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const keepAgent = agentKeeper(server);
  const read = (name: string) => readFile(join(ACCOUNT, name), 'utf8');
  return {
    server,
    namespace: readFileSync(join(ACCOUNT, 'namespace'), 'utf8').trim(),
    credentials: async () => {
      const [token, ca] = await Promise.all([read('token'), read('ca.crt')]);
      return { headers: authorization(token.trim()), agent: keepAgent({ ca }) };
    },
  };
}

const authorization = (token: string | null): Record<string, string> =>
  token === null ? {} : { authorization: `Bearer ${token}` };

interface Tls {
  ca?: string;
  cert?: string;
  key?: string;
  rejectUnauthorized?: boolean;
  servername?: string;
}

async function tlsOf({ cluster, user }: Context): Promise<Tls> {
  const [ca, cert, key] = await Promise.all([
    textOf(cluster['certificate-authority-data'], cluster['certificate-authority']),
    textOf(user['client-certificate-data'], user['client-certificate']),
    textOf(user['client-key-data'], user['client-key']),
  ]);
  const servername = cluster['tls-server-name'];
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
    ...(cluster['insecure-skip-tls-verify'] === true ? { rejectUnauthorized: false } : {}),
  };
}

async function textOf(data: string | undefined, path: string | undefined): Promise<string | undefined> {
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  return path === undefined ? undefined : readFile(path, 'utf8');
}

/** Keeps its connections until what they are made with changes; those that are open end in their own time. */
function agentKeeper(server: string): (tls: Tls) => HttpAgent | HttpsAgent {
  let known: { key: string; agent: HttpAgent | HttpsAgent } | null = null;
  return (tls) => {
    const key = JSON.stringify(tls);
    if (known?.key === key) return known.agent;
    const options = { keepAlive: true, keepAliveMsecs: 10_000 };
    known = {
      key,
      agent: server.startsWith('http:') ? new HttpAgent(options) : new HttpsAgent({ ...options, ...tls }),
    };
    return known.agent;
  };
}

/** Plugins, login providers, proxies: what the library knows. It takes 60 MB, so only they load it. */
async function throughLibrary(kubeconfig: string | undefined): Promise<Credentials> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  if (kubeconfig === undefined) config.loadFromDefault();
  else config.loadFromFile(kubeconfig);
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { auth, agent } = options;
  const basic: Record<string, string> =
    typeof auth === 'string' ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  return { headers: { ...basic, ...(options.headers as Record<string, string>) }, agent: agent as HttpsAgent };
}
