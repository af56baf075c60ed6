/** HTTP with a bearer token against a service, JSON in and out. */
export interface Answer<T = unknown> {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, or the text where the answer is not JSON. */
  readonly body: T;
}

export interface CallOptions {
  readonly token?: string;
  readonly method?: string;
  /** Sent as JSON; a string goes out as it is. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly timeoutMs?: number;
}

export async function call<T = unknown>(url: string, options: CallOptions = {}): Promise<Answer<T>> {
  const response = await fetch(url, requestOf(options));
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as T };
}

function requestOf({ token, method, body, headers, timeoutMs = 60_000 }: CallOptions): RequestInit {
  const common = {
    headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...headers },
    redirect: 'manual' as const,
    signal: AbortSignal.timeout(timeoutMs),
  };
  if (body === undefined) return { ...common, method: method ?? 'GET' };
  return {
    ...common,
    method: method ?? 'POST',
    headers: { 'content-type': 'application/json', ...common.headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}
