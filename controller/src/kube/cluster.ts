import { exchange, textOf } from '../net/exchange.ts';
import { type Credentials, openAccess } from './access.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface KubeRequest {
  method: Method;
  /** Path below the server's address, with its query. */
  path: string;
  body?: unknown;
  contentType?: string;
  signal?: AbortSignal;
}

/** Refusals carry the HTTP status; 0 stands for a server that could not be reached or broke off. */
export type KubeAnswer = { ok: true; body: unknown } | { ok: false; status: number; message: string };

export type KubeStream = { ok: true; lines: AsyncIterable<string> } | { ok: false; status: number; message: string };

/** The API server, reached with the caller's credentials. Never throws. */
export interface Cluster {
  send(request: KubeRequest): Promise<KubeAnswer>;
  /** The lines of a watch as they come; the iteration throws where the connection breaks. */
  stream(path: string, signal: AbortSignal): Promise<KubeStream>;
  /** The namespace of the account, for leases. */
  namespace: string;
}

/** Credentials are looked at again this often: an account's token is replaced well before it ends. */
const CREDENTIALS_MS = 60_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** Bookmarks come about every minute: a watch that is silent for longer has lost its peer. */
const WATCH_SILENCE_MS = 150_000;

export interface ClusterOptions {
  now(): number;
  env?: NodeJS.ProcessEnv;
  kubeconfig?: string;
  /** Told before and after every request. */
  step?: () => void;
}

/** Reads KUBECONFIG, ~/.kube/config or the account of the pod, as kubectl does. A file that is given comes first. Throws where one cannot be read. */
export function connectCluster({ now, env = {}, kubeconfig, step }: ClusterOptions): Cluster {
  const access = openAccess(env, kubeconfig);
  const { server, namespace } = access;
  let known: Promise<Credentials> | null = null;
  let until = 0;

  const credentials = (): Promise<Credentials> => {
    if (known && now() < until) return known;
    until = now() + CREDENTIALS_MS;
    const read = access.credentials();
    known = read;
    read.catch(() => {
      if (known === read) known = null;
    });
    return read;
  };

  const ask = async ({ method, path, body, contentType, signal }: KubeRequest, silenceMs: number) => {
    step?.();
    const { headers, agent } = await credentials();
    const typed: Record<string, string> =
      body === undefined ? {} : { 'content-type': contentType ?? 'application/json' };
    const answer = await exchange({
      url: `${server}${path}`,
      method,
      headers: { ...headers, accept: 'application/json', ...typed },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
      agent,
      answerMs: REQUEST_TIMEOUT_MS,
      silenceMs,
    });
    const { statusCode = 0 } = answer;
    if (statusCode === 401) known = null;
    return { statusCode, answer };
  };

  return {
    namespace,
    send: async (asked) => {
      try {
        const { statusCode, answer } = await ask(asked, REQUEST_TIMEOUT_MS);
        const text = await textOf(answer);
        step?.();
        if (statusCode >= 300) return { ok: false, status: statusCode, message: messageOf(text, statusCode) };
        return { ok: true, body: JSON.parse(text) as unknown };
      } catch (error) {
        return unreachable(error);
      }
    },
    stream: async (path, signal) => {
      try {
        const { statusCode, answer } = await ask({ method: 'GET', path, signal }, WATCH_SILENCE_MS);
        if (statusCode === 200) return { ok: true, lines: linesOf(answer) };
        return { ok: false, status: statusCode, message: messageOf(await textOf(answer), statusCode) };
      } catch (error) {
        return unreachable(error);
      }
    },
  };
}

const unreachable = (error: unknown) => ({
  ok: false as const,
  status: 0,
  message: error instanceof Error ? error.message : String(error),
});

/** The sentence of a Kubernetes `Status`. */
function messageOf(text: string, status: number): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Whatever stands between may answer with a page; its code says enough.
  }
  return `answered ${status}`;
}

async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for await (const chunk of body) {
    const parts = decoder.decode(chunk, { stream: true }).split('\n');
    const last = parts.pop() ?? '';
    for (const part of parts) {
      const line = [...rest, part].join('');
      rest = [];
      if (line !== '') yield line;
    }
    if (last !== '') rest.push(last);
  }
}
