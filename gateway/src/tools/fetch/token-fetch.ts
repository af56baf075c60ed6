import { auth, extractWWWAuthenticateParams, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { createFetchWithInit } from '@modelcontextprotocol/sdk/shared/transport.js';
import { acceptsEvents } from '../bounded-fetch.ts';
import type { Fetch } from './remote-fetch.ts';

export interface TokenFetchDeps {
  inner: Fetch;
  url: string;
  /** The operator's, for requests about tokens too. */
  headers: Record<string, string>;
  /** What gets a token where the server asks for one. */
  credentials: OAuthClientProvider;
}

/** Of one request: as it is, and with the tokens that the server asks for then. */
const MAX_SENDS = 3;

/**
 * A fetch that sends a token, and gets another one where the server refuses it. The SDK's own does so for each refused request alone and
 * without end; here all that wait for a token share one look-up.
 */
export function createTokenFetch({ inner, url: serverUrl, headers, credentials }: TokenFetchDeps): Fetch {
  const fetchFn = createFetchWithInit(inner, { headers });
  let looking: Promise<unknown> | null = null;
  const lookUp = (refusal: Response) => {
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refusal);
    const asked = { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
    looking ??= auth(credentials, { serverUrl, fetchFn, ...asked }).finally(() => (looking = null));
    return looking;
  };
  const tokenNow = async () => (await credentials.tokens())?.access_token;
  return async (url, init = {}) => {
    if (!acceptsEvents(init)) return inner(url, init);
    for (let sends = 1; ; sends++) {
      const token = await tokenNow();
      const response = await inner(url, withToken(init, token));
      if (!asksForToken(response)) return response;
      await response.body?.cancel();
      if (sends === MAX_SENDS) throw new Error('it refused each new token');
      // Another request may have got one in the meantime.
      if ((await tokenNow()) === token) await lookUp(response);
    }
  };
}

function asksForToken(response: Response): boolean {
  if (response.status === 403) return extractWWWAuthenticateParams(response).error === 'insufficient_scope';
  return response.status === 401;
}

/** A header of the operator stays. */
function withToken(init: RequestInit, token: string | undefined): RequestInit {
  const headers = new Headers(init.headers);
  if (token !== undefined && !headers.has('authorization')) headers.set('authorization', `Bearer ${token}`);
  return { ...init, headers };
}
