import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyReply } from 'fastify';
import { expect, onTestFinished, test, vi } from 'vitest';
import { clientLeft } from './client-left.ts';
import { openEventStream } from './event-stream.ts';

/** An answer whose client has left before anything was done for it. */
async function abandoned(): Promise<FastifyReply> {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const request = get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  request.on('error', () => undefined);
  const [, raw] = (await once(server, 'request')) as [unknown, ServerResponse];
  request.destroy();
  await once(raw, 'close');
  return { raw, hijack: () => undefined } as unknown as FastifyReply;
}

test('a stream whose client left before it opened is closed, and keeps no timer', async () => {
  const reply = await abandoned();
  const timers = vi.spyOn(globalThis, 'clearInterval');
  onTestFinished(() => timers.mockRestore());
  const stream = openEventStream(reply);
  expect(timers).toHaveBeenCalledOnce();
  const closed = vi.fn<() => void>();
  stream.onClose(closed);
  expect(closed).toHaveBeenCalledOnce();
  stream.send(1, {});
  await stream.replay([{ id: 2, data: {} }]);
  stream.finish({});
});

test('work for a client that left before it began is told so', async () => {
  expect(clientLeft(await abandoned()).aborted).toBe(true);
});
