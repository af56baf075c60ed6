import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { connectHttp } from './connect-http.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const MIB = 1024 * 1024;
/** An id that would keep the text before it, which it was read with. */
const WEEKS_LATER = `:${'x'.repeat(MIB)}\nid: much-later-than-now\nretry: 2000000000\ndata:\n\n`;

const HELLO = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'x', version: '1' },
  instructions: 'x'.repeat(4 * MIB),
};
/** How many calls were answered like this. */
let putOff = 0;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method } = (await json(request)) as { id?: number; method: string };
  if (id === undefined) return void response.writeHead(202).end();
  if (method === 'tools/call') {
    putOff += 1;
    return void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(WEEKS_LATER);
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: HELLO }));
}

test('of a session that is over nothing large is kept, though its server asked to be called again in weeks', async () => {
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const session = async () => {
    const connection = await connectHttp({ url, headers: {} }, 600_000, new AbortController().signal);
    const call = () => connection.call('t', {}, { signal: new AbortController().signal, timeoutMs: 1000 });
    const outcomes = await Promise.all([call(), call(), call(), call()]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map(() => 'timeout'));
    await connection.close();
  };
  const heldBytes = async () => {
    for (let count = 0; count < 3; count++) {
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
    }
    return process.memoryUsage().heapUsed;
  };
  await session();
  const before = await heldBytes();
  for (let count = 0; count < 3; count++) await session();
  expect(putOff).toBe(16);
  expect((await heldBytes()) - before).toBeLessThan(5 * MIB);
  server.closeAllConnections();
  server.close();
});
