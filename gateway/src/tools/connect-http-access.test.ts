import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeCertificate } from '../../../e2e/support/certificate.ts';
import { connectHttp } from './connect-http.ts';
import type { Remote } from './fetch/remote-fetch.ts';
import type { ToolConnection } from './tool.ts';

const open: Server[] = [];
const connections: ToolConnection[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'remote-fetch-'));
});
afterEach(async () => {
  for (const connection of connections.splice(0)) await connection.close();
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(folder, { recursive: true });
});

async function listen(server: Server): Promise<string> {
  open.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const scheme = 'setSecureContext' in server ? 'https' : 'http';
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A session for every request, which needs no memory of them. */
async function serveMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const server = new McpServer({ name: 'remote', version: '1' });
  server.registerTool('hello', {}, () => ({ content: [{ type: 'text', text: 'hello' }] }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server.connect(transport);
  await transport.handleRequest(request, response);
}

async function connect(remote: Remote): Promise<ToolConnection> {
  const connection = await connectHttp(remote, 30_000, new AbortController().signal);
  connections.push(connection);
  return connection;
}

const hello = (connection: ToolConnection) =>
  connection.call('hello', {}, { signal: new AbortController().signal, timeoutMs: 30_000 });

describe('a certificate authority of the operator', () => {
  test('is trusted, and without it the server is not', async () => {
    const { certFile, keyFile } = makeCertificate(folder, 'remote');
    const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
    const url = `${await listen(createTlsServer(tls, (request, response) => void serveMcp(request, response)))}/mcp`;
    expect(await hello(await connect({ url, headers: {}, ca: certFile }))).toEqual({ kind: 'ok', text: 'hello' });
    await expect(connect({ url, headers: {} })).rejects.toThrow('fetch failed');
    const other = makeCertificate(folder, 'other').certFile;
    await expect(connect({ url, headers: {}, ca: other })).rejects.toThrow('fetch failed');
  });
});

describe('client credentials', () => {
  const CLIENT = { client_id: 'gateway', client_secret: 'secret-of-the-client' };
  const BASIC = `Basic ${Buffer.from(`${CLIENT.client_id}:${CLIENT.client_secret}`).toString('base64')}`;
  const json = (response: ServerResponse, body: object) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  /** What the authorization server was sent: headers and body of each request for a token. */
  let asked: { headers: IncomingMessage['headers']; body: string }[];
  let tenants: (string | string[] | undefined)[];
  let valid: string;
  let isClosed: boolean;
  let issuer: string;
  let url: string;

  const authorize: RequestListener = (request, response) => {
    if (request.url !== '/token')
      return json(response, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
      });
    void text(request).then((body) => {
      asked.push({ headers: request.headers, body });
      valid = `token-number-${asked.length}`;
      if (request.headers.authorization === BASIC)
        return json(response, { access_token: valid, token_type: 'Bearer', expires_in: 60 });
      const shown = Buffer.from(request.headers.authorization?.slice(6) ?? '', 'base64').toString();
      const refusal = { error: 'invalid_client', error_description: `no client is ${shown}` };
      return response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
    });
  };

  const guard: RequestListener = (request, response) => {
    const own = `http://${request.headers.host}`;
    if (request.url?.startsWith('/.well-known/oauth-protected-resource'))
      return json(response, { resource: `${own}/mcp`, authorization_servers: [issuer] });
    tenants.push(request.headers['x-tenant']);
    if (isClosed) return response.writeHead(403).end(`closed for ${request.headers.authorization}`);
    if (request.headers.authorization === `Bearer ${valid}`) return void serveMcp(request, response);
    const challenge = `Bearer resource_metadata="${own}/.well-known/oauth-protected-resource"`;
    return response
      .writeHead(401, { 'www-authenticate': challenge })
      .end(`${request.headers.authorization} is not valid`);
  };

  beforeEach(async () => {
    [asked, tenants, valid, isClosed] = [[], [], 'none yet', false];
    issuer = await listen(createServer(authorize));
    url = `${await listen(createServer(guard))}/mcp`;
  });

  test('get a token where the server asks for one, and another when that is over', async () => {
    const connection = await connect({
      url,
      headers: { 'x-tenant': 'shop' },
      oauth: { issuer, ...CLIENT, scope: 'tools' },
    });
    expect(await hello(connection)).toEqual({ kind: 'ok', text: 'hello' });
    expect(asked).toHaveLength(1);
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toMatchObject({
      grant_type: 'client_credentials',
      scope: 'tools',
    });
    valid = 'another one';
    expect(await hello(connection)).toEqual({ kind: 'ok', text: 'hello' });
    expect(asked).toHaveLength(2);
  });

  test('the operator’s headers go to the tool server and not to the authorization server', async () => {
    await connect({ url, headers: { 'x-tenant': 'shop' }, oauth: { issuer, ...CLIENT } });
    expect(new Set(tenants)).toEqual(new Set(['shop']));
    expect(asked[0]?.headers).toMatchObject({ authorization: BASIC });
    expect(asked[0]?.headers).not.toHaveProperty('x-tenant');
  });

  test('are shown to no other authorization server than theirs', async () => {
    const theirs = 'http://127.0.0.1:1';
    await expect(connect({ url, headers: {}, oauth: { issuer: theirs, ...CLIENT } })).rejects.toThrow(
      `refers to ${issuer}, which is neither its own address nor oauth.issuer`,
    );
    expect(asked).toEqual([]);
  });

  test('neither a token nor the secret is in an error message', async () => {
    const connection = await connect({ url, headers: {}, oauth: { issuer, ...CLIENT } });
    isClosed = true;
    expect((await hello(connection)).text).toContain('closed for Bearer ***');
    isClosed = false;
    const oauth = { issuer, ...CLIENT, client_secret: 'wrong-and-still-secret' };
    await expect(connect({ url, headers: {}, oauth })).rejects.toThrow('no client is gateway:***');
  });
});
