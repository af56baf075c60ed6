import { HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node';
import { type Dispatcher, request } from 'undici';

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

interface Credentials {
  headers: Record<string, string>;
  dispatcher: Dispatcher | undefined;
  until: number;
}

/** Reads KUBECONFIG, ~/.kube/config or the account of the pod, as kubectl does. A file that is given comes first. Throws where one cannot be read. */
export function connectCluster({ now, kubeconfig }: { now: () => number; kubeconfig?: string }): Cluster {
  const config = new KubeConfig();
  if (kubeconfig === undefined) config.loadFromDefault();
  else config.loadFromFile(kubeconfig);
  const server = config.getCurrentCluster()?.server.replace(/\/$/, '') ?? '';
  const namespace = config.getContextObject(config.getCurrentContext())?.namespace ?? 'default';
  let known: Promise<Credentials> | null = null;
  let until = 0;

  const credentials = (): Promise<Credentials> => {
    if (known && now() < until) return known;
    const before = known;
    until = now() + CREDENTIALS_MS;
    known = readCredentials(config, server, until);
    // What still runs on the old connections ends in its own time.
    void before?.then(({ dispatcher }) => dispatcher?.close()).catch(() => undefined);
    known.catch(() => (known = null));
    return known;
  };

  const ask = async ({ method, path, body, contentType, signal }: KubeRequest, silenceMs: number) => {
    const { headers, dispatcher } = await credentials();
    const answer = await request(`${server}${path}`, {
      method,
      headers: {
        ...headers,
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      bodyTimeout: silenceMs,
      headersTimeout: REQUEST_TIMEOUT_MS,
      ...(signal ? { signal } : {}),
      ...(dispatcher ? { dispatcher } : {}),
    });
    if (answer.statusCode === 401) known = null;
    return answer;
  };

  return {
    namespace,
    send: async (asked) => {
      try {
        const { statusCode, body } = await ask(asked, REQUEST_TIMEOUT_MS);
        const text = await body.text();
        if (statusCode >= 300) return { ok: false, status: statusCode, message: messageOf(text, statusCode) };
        return { ok: true, body: JSON.parse(text) as unknown };
      } catch (error) {
        return unreachable(error);
      }
    },
    stream: async (path, signal) => {
      try {
        const { statusCode, body } = await ask({ method: 'GET', path, signal }, WATCH_SILENCE_MS);
        if (statusCode === 200) return { ok: true, lines: linesOf(body) };
        return { ok: false, status: statusCode, message: messageOf(await body.text(), statusCode) };
      } catch (error) {
        return unreachable(error);
      }
    },
  };
}

async function readCredentials(config: KubeConfig, server: string, until: number): Promise<Credentials> {
  const context = new RequestContext(server, HttpMethod.GET);
  await config.applySecurityAuthentication(context);
  return { headers: context.getHeaders(), dispatcher: context.getDispatcher(), until };
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
