import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { connectMcp } from './mcp-connection.ts';
import { withoutLeaks } from './without-leaks.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const MIB = 1024 * 1024;
const HELLO = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } };
/** A megabyte of the heap, which no other text shares. */
const large = (id: unknown) => JSON.parse(JSON.stringify(`${String(id)}.`.padEnd(MIB, 'x'))) as string;

type Answer = (id: unknown) => object;

/** A server that introduces itself, and answers each call like this. */
function transportTo(answer: Answer): Transport {
  return {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    async send(message) {
      if (!('id' in message && 'method' in message)) return;
      const { id } = message;
      const said = message.method === 'initialize' ? { result: HELLO } : answer(id);
      const text = JSON.stringify({ jsonrpc: '2.0', id, ...said });
      await setImmediate();
      this.onmessage?.(JSON.parse(text) as JSONRPCMessage);
    },
  };
}

async function heldBytes(): Promise<number> {
  await setImmediate();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test.each<[string, Answer, string]>([
  ['with a task', (id) => ({ result: { content: [], task: { taskId: large(id) } } }), 'ok'],
  ['with a long error', (id) => ({ error: { code: -1, message: large(id) } }), 'error'],
  [
    'by which the request fails',
    (id) => {
      throw new Error(large(id));
    },
    'unavailable',
  ],
])('nothing is kept of an answer %s', async (_, answer, kind) => {
  const transport = transportTo(answer);
  const about = { pid: () => null, reason: () => 'closed', conceal: (text: string) => text };
  const connection = await connectMcp({ transport, ...about }, new AbortController().signal);
  const call = () => connection.call('t', {}, { signal: new AbortController().signal, timeoutMs: 30_000 });
  const outcomes = [await call()];
  const before = await heldBytes();
  for (let count = 0; count < 30; count++) outcomes.push(await call());
  expect((await heldBytes()) - before).toBeLessThan(10 * MIB);
  expect(new Set(outcomes.map((outcome) => outcome.kind))).toEqual(new Set([kind]));
  await connection.close();
});

test('an answer that cannot be sent fails no request of the same number', async () => {
  const received: JSONRPCMessage[] = [];
  const transport: Transport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send: () => Promise.reject(new Error('lost')),
  };
  withoutLeaks(transport);
  transport.onmessage = (message) => received.push(message);
  await expect(transport.send({ jsonrpc: '2.0', id: 7, result: {} })).rejects.toThrow('lost');
  await expect(transport.send({ jsonrpc: '2.0', id: 8, method: 'ping' })).rejects.toThrow('lost');
  await setImmediate();
  await setImmediate();
  expect(received).toMatchObject([{ id: 8 }]);
});
