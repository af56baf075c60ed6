import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test, vi } from 'vitest';
import { httpExecutor } from './http.ts';

test('a call lasts as long as its step allows, however late the answer begins', async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => asked.resolve(response)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { signal } = new AbortController();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const answered = httpExecutor(['127.0.0.1'])({ url, method: 'GET', headers: {}, body: null, signal });
  const response = await asked.promise;
  await vi.advanceTimersByTimeAsync(3_600_000);
  response.end('late');
  expect(await answered).toMatchObject({ ok: true, status: 200, body: 'late' });
});

test('an answer in many small pieces takes no more memory than its text', async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => asked.resolve(response)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { signal } = new AbortController();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const answered = httpExecutor(['127.0.0.1'])({ url, method: 'GET', headers: {}, body: null, signal });
  const response = await asked.promise;
  const before = heapUsed();
  for (let at = 0; at < 20_000; at++) {
    response.write('x');
    // One by one they are read, which they are not in one turn.
    await setImmediate();
  }
  expect(heapUsed() - before).toBeLessThan(1_000_000);
  response.end();
  expect(await answered).toMatchObject({ body: 'x'.repeat(20_000) });
});

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
