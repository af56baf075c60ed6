import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { connectHttp } from './connect-http.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close(() => {}).closeAllConnections();
});

type Message = { id?: number; method: string };

/** A tool server that is its own authorization server and refuses messages of one method, each time for a lack of another scope. */
async function serve(refused: string) {
  const seen = { refusals: 0, tokens: 0 };
  let own = '';
  const json = (response: ServerResponse, body: object) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const answer = (response: ServerResponse, { id, method }: Message) => {
    if (method === refused)
      return response
        .writeHead(403, { 'www-authenticate': `Bearer error="insufficient_scope", scope="s${seen.refusals++}"` })
        .end();
    if (id === undefined) return response.writeHead(202).end();
    const capabilities = { tools: {} };
    const opened = { protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 'x', version: '1' } };
    return json(response, { jsonrpc: '2.0', id, result: method === 'initialize' ? opened : {} });
  };
  const server = createServer((request, response) => {
    if (request.url?.includes('oauth-protected-resource'))
      return json(response, { resource: `${own}/mcp`, authorization_servers: [own] });
    if (request.url?.includes('well-known'))
      return json(response, {
        issuer: own,
        authorization_endpoint: `${own}/authorize`,
        token_endpoint: `${own}/token`,
        response_types_supported: ['code'],
      });
    if (request.url === '/token') return json(response, { access_token: `t${seen.tokens++}`, token_type: 'Bearer' });
    if (request.method === 'GET') return response.writeHead(405).end();
    return void text(request).then((body) => answer(response, JSON.parse(body) as Message));
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const oauth = { issuer: own, client_id: 'gateway', client_secret: 'secret' };
  const connect = () => connectHttp({ url: `${own}/mcp`, headers: {}, oauth }, 30_000, new AbortController().signal);
  return { seen, connect };
}

const options = () => ({ signal: new AbortController().signal, timeoutMs: 5000 });

test.each(['initialize', 'notifications/initialized'])(
  '%s that is refused with each new token is not sent again and again',
  async (method) => {
    const { seen, connect } = await serve(method);
    await expect(connect()).rejects.toThrow('it refused each new token');
    expect(seen).toEqual({ refusals: 3, tokens: 2 });
  },
);

test('a call that is refused with each new token fails, and the session goes on', async () => {
  const { seen, connect } = await serve('tools/call');
  const connection = await connect();
  const outcome = await connection.call('look', {}, options());
  expect(outcome).toEqual({ kind: 'unavailable', text: 'the tool server failed: it refused each new token' });
  expect(seen).toEqual({ refusals: 3, tokens: 2 });
  await connection.ping(5000);
  await connection.close();
});

test('a server for which tokens are asked without end is restarted', async () => {
  const { connect } = await serve('tools/call');
  const connection = await connect();
  for (let count = 0; count < 100; count++) await connection.call('look', {}, options());
  expect(await connection.closed).toBe('asked for new tokens too often');
});

test('calls that are refused at once get one token together', async () => {
  const { seen, connect } = await serve('tools/call');
  const connection = await connect();
  const outcomes = await Promise.all(Array.from({ length: 80 }, () => connection.call('look', {}, options())));
  expect(new Set(outcomes.map(({ text: said }) => said))).toEqual(
    new Set(['the tool server failed: it refused each new token']),
  );
  expect(seen.refusals).toBe(240);
  expect(seen.tokens).toBeLessThan(20);
  await connection.close();
});
