import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { createConceal } from '../observability/conceal.ts';
import { HttpTransport } from './http-transport.ts';
import { connectMcp } from './mcp-connection.ts';
import type { Remote } from './fetch/remote-fetch.ts';
import type { ToolConnection } from './tool.ts';

/** Dials a tool server over streamable HTTP and opens a session with it. `timeoutMs`: how long a tool may take to answer. */
export function connectHttp(remote: Remote, timeoutMs: number, signal: AbortSignal): Promise<ToolConnection> {
  const credentials = remote.oauth === undefined ? null : credentialsOf(remote.oauth);
  const transport = new HttpTransport(remote, { timeoutMs, credentials });
  // A token that the server repeats is as secret as what it was got with.
  const conceal = (text: string) => createConceal([...secretsOf(remote), credentials?.tokens()?.access_token])(text);
  return connectMcp({ transport, pid: () => null, reason: () => transport.reason, conceal }, signal);
}

const credentialsOf = ({ issuer, client_id, client_secret, scope }: NonNullable<Remote['oauth']>) =>
  new ClientCredentialsProvider({
    clientId: client_id,
    clientSecret: client_secret,
    expectedIssuer: issuer,
    clientName: 'signalbox-gateway',
    ...(scope === undefined ? {} : { scope }),
  });

/** Headers as a whole and word by word, because a server may repeat a token without its scheme; and what an address may hold. */
function secretsOf({ url, headers, oauth }: Remote): (string | undefined)[] {
  const { username, password, search, searchParams } = new URL(url);
  const words = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  return [...words, username, password, search.slice(1), ...searchParams.values(), oauth?.client_secret];
}
