import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import { KubeConfig, type RequestContext } from '@kubernetes/client-node';
import type { Dispatcher } from 'undici';
import { useTokenFiles } from './token-file.ts';

/** After this time certificates are read again, and a connection whose peer is gone is given up. */
const POOL_MS = 60_000;
/** A request that was prepared with the old pool is sent by then. */
const CLOSE_AFTER_MS = 5000;

/** Before an answer, and between two parts of it. */
const SILENCE_MS = 30_000;

/** KubeConfig opens a connection pool for every request. This one shares a pool between the requests of a minute. */
class PoolingKubeConfig extends KubeConfig {
  readonly #now: () => number;
  readonly #silenceMs: number;
  #pool: Dispatcher | null = null;
  #close: (() => Promise<void>) | null = null;
  #until = 0;

  constructor({ now, silenceMs = SILENCE_MS }: Pick<KubeConfigOptions, 'now' | 'silenceMs'>) {
    super();
    this.#now = now;
    this.#silenceMs = silenceMs;
  }

  /** The first request of a minute gets a pool, which the others share. */
  override createDispatcherOptions(
    ...of: Parameters<KubeConfig['createDispatcherOptions']>
  ): ReturnType<KubeConfig['createDispatcherOptions']> {
    if (this.#now() < this.#until) return { type: 'none' };
    const options = super.createDispatcherOptions(...of);
    this.#until = this.#now() + POOL_MS;
    return options.type === 'none' ? { type: 'agent', connect: {} } : options;
  }

  override async applySecurityAuthentication(request: RequestContext): Promise<void> {
    await super.applySecurityAuthentication(request);
    const fresh = request.getDispatcher();
    if (fresh) this.#replace(fresh);
    if (this.#pool) request.setDispatcher(this.#pool);
  }

  #replace(fresh: Dispatcher): void {
    const close = this.#close;
    this.#close = () => fresh.close();
    // Without HTTP/2 a small request takes less time here and in the API server.
    const how = { headersTimeout: this.#silenceMs, bodyTimeout: this.#silenceMs, allowH2: false };
    this.#pool = fresh.compose((dispatch) => (options, handler) => dispatch({ ...options, ...how }, handler));
    if (close) setTimeout(() => void close().catch(() => undefined), CLOSE_AFTER_MS).unref();
  }
}

export interface KubeConfigOptions {
  now(): number;
  /** A kubeconfig file; without it KUBECONFIG, `~/.kube/config` or the account of the pod, in this order. */
  file?: string | undefined;
  /** The kubeconfig files where no file is given, as KUBECONFIG names them. */
  source?: string | undefined;
  /** How long the API server may be silent. */
  silenceMs?: number | undefined;
}

/** Loads the kubeconfig. Throws with a message that says what to do. */
export function loadKubeConfig({ file, source = '~/.kube/config', ...rest }: KubeConfigOptions): KubeConfig {
  const config = new PoolingKubeConfig(rest);
  const name = file ?? source;
  try {
    load(config, file);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${name}: ${why}; correct the file, or set KUBECONFIG to another one`, { cause });
  }
  if (config.getCurrentContext() === NO_CLUSTER)
    throw new Error('no cluster: set KUBECONFIG to a kubeconfig file, or run in a pod that has a service account');
  const problem = problemOf(config);
  if (problem) throw new Error(`${name}: ${problem}`);
  allowPlainHttp(config);
  useTokenFiles(config, file === undefined ? pathsIn(source) : [file]);
  return config;
}

/** The context that KubeConfig makes up where it finds nothing. */
const NO_CLUSTER = 'loaded-context';

const pathsIn = (source: string): string[] =>
  source.split(delimiter).map((path) => path.replace(/^~(?=\/)/, homedir()));

function load(config: KubeConfig, file: string | undefined): void {
  if (file !== undefined) return config.loadFromFile(file);
  // Of several files the first that names a current context decides, as with kubectl.
  config.loadFromDefault(undefined, true);
  if (!config.getCurrentContext()) config.loadFromDefault();
}

/** The client refuses a server without TLS unless its certificate, which it does not have, need not be verified. */
function allowPlainHttp(config: KubeConfig): void {
  config.clusters = config.clusters.map((cluster) =>
    cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster,
  );
}

function problemOf(config: KubeConfig): string | null {
  const current = config.getCurrentContext() ?? '';
  const context = config.getContextObject(current);
  const names = config.getContexts().map(({ name }) => name);
  if (!context)
    return `has no context "${current}" (it has: ${names.join(', ') || 'none'}); choose one with "kubectl config use-context NAME"`;
  const cluster = config.getCurrentCluster();
  if (!cluster)
    return `has no cluster "${context.cluster}", which its context "${current}" names; add it with "kubectl config set-cluster"`;
  return null;
}
