import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RpcResponse } from '@signalbox/crds';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { openSocket, type Pulse } from './rpc-socket.ts';

let http: Server;
beforeEach(async () => {
  http = createServer().listen(0, '127.0.0.1');
  await once(http, 'listening');
});
afterEach(() => http.close());

/** A backend that sends nothing by itself; `answers` says whether it answers pings. */
async function connect(answers: boolean, pulse: Pulse) {
  const backend = new WebSocketServer({ server: http, autoPong: answers });
  const connected = once(backend, 'connection');
  const gone = Promise.withResolvers<string>();
  const nothing = () => undefined;
  const responses: RpcResponse[] = [];
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/rpc`;
  const opened = Promise.withResolvers<void>();
  const events = {
    open: opened.resolve,
    closed: gone.resolve,
    response: (message: RpcResponse) => void responses.push(message),
    notification: nothing,
    request: nothing,
  };
  const socket = openSocket({ url, token: '', pulse }, events);
  const [client] = (await connected) as [WebSocket];
  await opened.promise;
  return { backend, client, socket, gone: gone.promise, responses };
}

test('a backend that sends no pings is pinged, and stays connected', async () => {
  const { backend, client, socket } = await connect(true, { pingEveryMs: 50, silenceMs: 2_000 });
  let pings = 0;
  const enough = Promise.withResolvers<void>();
  client.on('ping', () => {
    pings += 1;
    if (pings === 60) enough.resolve();
  });
  client.on('close', () => enough.reject(new Error(`cut after ${pings} pings`)));
  await enough.promise;
  expect(client.readyState).toBe(client.OPEN);
  client.removeAllListeners('close');
  socket.close();
  backend.close();
});

test('a backend that answers no ping is given up', async () => {
  const { backend, gone } = await connect(false, { pingEveryMs: 20, silenceMs: 200 });
  expect(await gone).toContain('closed');
  backend.close();
});

test('a backend that does not read what it asks for is given up', async () => {
  const { backend, client, socket, gone } = await connect(true, { pingEveryMs: 10_000, silenceMs: 10_000 });
  client.pause();
  const long = 'x'.repeat(10_000);
  for (let count = 0; count < 6_000; count++) socket.answer(long);
  expect(await gone).toContain('closed');
  backend.close();
});

test('an answer of too many values is not parsed, and its call hears so', async () => {
  const { backend, client, socket, responses } = await connect(true, { pingEveryMs: 10_000, silenceMs: 10_000 });
  const many = `[${'1,'.repeat(60_000)}1]`;
  client.send(`{"jsonrpc": "2.0", "id": 1, "result": ${many}}`);
  client.send(`{"result":${many},"id":2}`);
  client.send(`{"jsonrpc":"2.0","id":3,"method":"tool.request_approval","params":${many}}`);
  client.send('{"jsonrpc":"2.0","id":4,"result":"in order"}');
  await expect
    .poll(() => responses.map(({ id, error }) => [id, error?.message]))
    .toEqual([
      [1, 'the message has more than 50000 values'],
      [2, 'the message has more than 50000 values'],
      [4, undefined],
    ]);
  socket.close();
  backend.close();
});
