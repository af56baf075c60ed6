import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { MAX_FRAME_BYTES } from '@signalbox/crds';
import { expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { WebSocketRpc } from './rpc-client.ts';

const CALLS = 60;
/** Control characters, which take six times their number in a frame. */
const INPUT = '\u0001'.repeat(160_000);
const signal = new AbortController().signal;

/** A backend that answers each call with its number, once told to, and what it got on each connection. */
async function startBackend() {
  const http = createServer().listen(0, '127.0.0.1');
  await once(http, 'listening');
  const sockets = new WebSocketServer({ server: http, maxPayload: MAX_FRAME_BYTES });
  const connections: { socket: WebSocket; ids: number[] }[] = [];
  const backend = { connections, answers: false, url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}/rpc` };
  sockets.on('connection', (socket) => {
    const ids: number[] = [];
    connections.push({ socket, ids });
    socket.on('message', (data) => {
      const { id } = JSON.parse(String(data)) as { id: number };
      ids.push(id);
      if (backend.answers) socket.send(JSON.stringify({ jsonrpc: '2.0', id, result: id }));
    });
  });
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    http.close();
  });
  return backend;
}

test('the large calls of a lost connection are written again in turns, each once, also those made meanwhile', async () => {
  const backend = await startBackend();
  const rpc = new WebSocketRpc({ url: backend.url, token: '' });
  onTestFinished(() => rpc.close());
  let written = 0;
  const input = () => {
    written += 1;
    return INPUT;
  };
  const call = (toJSON: () => string) =>
    rpc.call({ method: 'agent.run', params: { input: { toJSON } }, signal, repeatable: true });
  const large = Array.from({ length: CALLS }, () => call(input));
  await expect.poll(() => backend.connections[0]?.ids.length).toBe(CALLS);

  backend.answers = true;
  backend.connections[0]?.socket.terminate();
  const small: Promise<unknown>[] = [];
  const turns: number[] = [];
  written = 0;
  do {
    const before = written;
    await setImmediate();
    turns.push(written - before);
    if (written > 0 && small.length < 3) small.push(call(() => 'small'));
  } while (turns.reduce((all, now) => all + now) < CALLS);
  expect(Math.max(...turns)).toBeLessThan(10);
  const answers = await Promise.all([...large, ...small]);
  expect(answers).toEqual(Array.from({ length: CALLS + 3 }, (_, at) => ({ ok: true, result: at + 1 })));
  expect(backend.connections[1]?.ids).toEqual(Array.from({ length: CALLS + 3 }, (_, at) => at + 1));
});
