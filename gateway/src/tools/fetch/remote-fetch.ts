import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import type { Agent, fetch as UndiciFetch } from 'undici';

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Credentials of this client, which are shown to the one authorization server that issued them. */
export interface ClientCredentials {
  issuer: string;
  client_id: string;
  client_secret: string;
  scope?: string | undefined;
}

/** How to reach a server that is dialled. */
export interface Remote {
  url: string;
  headers: Record<string, string>;
  /** File of a certificate authority that is trusted in addition to the well-known ones. */
  ca?: string | undefined;
  oauth?: ClientCredentials | undefined;
}

export interface RemoteFetch {
  fetch: Fetch;
  close: () => void;
}

/** Without headers or data Node's own client gives up after this time. */
const OWN_PATIENCE_MS = 300_000;

/**
 * The `fetch` of one remote server and of the authorization server that is configured for it: requests to any other address are
 * refused, redirects are not followed, and the operator's headers go to the tool server only. How long an answer may take is the
 * caller's signal.
 */
export function createRemoteFetch({ url, headers, ca, oauth }: Remote, timeoutMs: number): RemoteFetch {
  const own = new URL(url).origin;
  const issuer = oauth === undefined ? null : new URL(oauth.issuer).origin;
  const patient = ca !== undefined || timeoutMs >= OWN_PATIENCE_MS;
  const client = patient ? createClient(ca) : { fetch, close: () => {} };
  return {
    close: client.close,
    fetch: async (asked, init) => {
      const { origin } = new URL(asked);
      const sent = { redirect: 'manual' as const, ...init };
      if (origin === own) return client.fetch(asked, sent);
      if (origin !== issuer) throw new Error(`refers to ${origin}, which is neither its own address nor oauth.issuer`);
      return client.fetch(asked, { ...sent, headers: without(init?.headers, Object.keys(headers)) });
    },
  };
}

function without(given: RequestInit['headers'], names: readonly string[]): Headers {
  const left = new Headers(given);
  for (const name of names) left.delete(name);
  return left;
}

/** Loaded with the first request. */
function createClient(ca: string | undefined): RemoteFetch {
  let opened: Promise<{ fetch: typeof UndiciFetch; dispatcher: Agent }> | undefined;
  const send = async (url: string | URL, init?: RequestInit) => {
    const { fetch: ask, dispatcher } = await (opened ??= open(ca));
    const { headers, ...rest } = init ?? {};
    type Init = Parameters<typeof UndiciFetch>[1];
    return ask(String(url), { ...(rest as Init), headers: [...new Headers(headers)], dispatcher });
  };
  return {
    // The types of Node and of the package differ in what they call a response.
    fetch: send as unknown as Fetch,
    close: () => void opened?.then(({ dispatcher }) => dispatcher.destroy()).catch(() => undefined),
  };
}

async function open(ca: string | undefined) {
  const { Agent, fetch: ask } = await import('undici');
  const connect = ca === undefined ? {} : { ca: [...rootCertificates, readFileSync(ca, 'utf8')] };
  return { fetch: ask, dispatcher: new Agent({ connect, headersTimeout: 0, bodyTimeout: 0, allowH2: false }) };
}
