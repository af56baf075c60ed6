import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectHttp } from './connect-http.ts';
import type { ToolConnection, ToolOutcome } from './tool.ts';

interface Asked {
  id?: number;
  method: string;
  params?: { name?: string };
}
const EVENTS = { 'content-type': 'text/event-stream' };
const answerTo = (id: number | undefined, result: object) => JSON.stringify({ jsonrpc: '2.0', id, result });
const said = (words: string) => ({ content: [{ type: 'text', text: words }] });

/** What a server does with a call of a tool of that name. */
const WAYS: Record<string, (asked: Asked, response: ServerResponse) => void> = {
  answer: ({ id }, response) => response.writeHead(200, EVENTS).end(`data: ${answerTo(id, said('fine'))}\n\n`),
  'answer then reset': ({ id }, response) => {
    response.writeHead(200, EVENTS);
    response.write(`data: ${answerTo(id, said('fine'))}\n\n`, () => response.destroy());
  },
  reset: (_, response) => void response.destroy(),
  'reset in the stream': (_, response) => {
    response.writeHead(200, EVENTS);
    response.write(': working\n\ndata: {"jsonrpc":', () => response.destroy());
  },
  'end of the stream': (_, response) => response.writeHead(200, EVENTS).end(': working\n\n'),
  'accepted, and no more': (_, response) => response.writeHead(202).end(),
  'resumable, then gone': (_, response) => {
    response.writeHead(200, EVENTS);
    response.write('i');
    setImmediate(() => response.write('d: lost\nretry: 10\ndata:\n\n', () => response.destroy()));
  },
  'resumable, then resumed': (asked, response) => {
    resumable = asked.id;
    response.writeHead(200, EVENTS).end('id: kept\nretry: 10\ndata:\n\n');
  },
};
let resumable: number | undefined;

function handleGet(request: IncomingMessage, response: ServerResponse): void {
  const asked = request.headers['last-event-id'];
  if (asked !== 'kept') return void response.writeHead(asked === undefined ? 405 : 404).end();
  response.writeHead(200, EVENTS).end(`id: kept-2\ndata: ${answerTo(resumable, said('resumed'))}\n\n`);
}

async function handlePost(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = JSON.parse(await text(request)) as Asked;
  if (asked.id === undefined) return void response.writeHead(202).end();
  const way = WAYS[asked.params?.name ?? ''];
  if (way) return way(asked, response);
  const hello = {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'remote', version: '1' },
  };
  const result = asked.method === 'initialize' ? hello : {};
  response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(asked.id, result));
}

let server: Server;
let connection: ToolConnection;
beforeEach(async () => {
  server = createServer((request, response) =>
    request.method === 'GET' ? handleGet(request, response) : void handlePost(request, response),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  connection = await connectHttp({ url: `http://127.0.0.1:${port}/mcp`, headers: {} }, new AbortController().signal);
});
afterEach(async () => {
  await connection.close();
  server.closeAllConnections();
  server.close();
});

/** With a timeout that the test does not outlive. */
const call = (tool: string): Promise<ToolOutcome> =>
  connection.call(tool, {}, { signal: new AbortController().signal, timeoutMs: 600_000 });

test.each(['reset', 'reset in the stream', 'end of the stream', 'accepted, and no more', 'resumable, then gone'])(
  'a remote server that dies in mid-call ends the call at once: %s',
  async (way) => {
    const { kind, text: words } = await call(way);
    expect(kind).toBe('unavailable');
    expect(words).toMatch(/^the tool server failed: .*(?:fetch failed|before there was an answer)$/);
    expect(await call('answer')).toEqual({ kind: 'ok', text: 'fine' });
  },
);

test.each([
  ['answer', 'fine'],
  ['answer then reset', 'fine'],
  ['resumable, then resumed', 'resumed'],
])('an answer that came counts, however the stream ended: %s', async (way, words) => {
  expect(await call(way)).toEqual({ kind: 'ok', text: words });
});
