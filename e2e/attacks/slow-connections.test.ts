import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { type Service, startService } from '../support/start-service.ts';

const scratch = scratchDirectory('slow-connections-');
let services: Service[] = [];
beforeAll(async () => {
  mkdirSync(join(scratch.path, 'agents'));
  const write = (name: string, config: object) => {
    const path = join(scratch.path, name);
    writeFileSync(path, JSON.stringify(config));
    return path;
  };
  const server = { host: '127.0.0.1', port: 0 };
  const gateway = write('gateway.yaml', { server, identity_dir: 'identity' });
  const apiServer = write('api-server.yaml', {
    server,
    database: { url: 'sqlite:slow.db' },
    auth: { tokens: [{ name: 'hook', token: 'hook-token-of-the-test', role: 'webhook' }] },
  });
  services = await Promise.all([startService('gateway', gateway), startService('api-server', apiServer)]);
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  scratch.remove();
});

const POST = 'POST /webhook?source=generic HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer hook-token-of-the-test\r\n';
/** What a client sends at once, and then again and again. */
const CLIENTS: [string, string, string][] = [
  ['nothing', '', ''],
  ['half a request line', 'GET /hea', ''],
  ['headers without an end', 'GET /health HTTP/1.1\r\nHost: x\r\n', 'X-More: 1\r\n'],
  ['a body without an end', `${POST}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"a": "`, 'x'],
];

/** Resolves to how long the service kept the connection, in seconds. */
function keptFor({ url }: Service, first: string, then: string): Promise<number> {
  const { hostname, port } = new URL(url);
  const began = performance.now();
  return new Promise((resolve) => {
    const socket: Socket = connect(Number(port), hostname, () => void (first && socket.write(first)));
    const drip = setInterval(() => void (then && socket.writable && socket.write(then)), 1_000);
    socket.resume().on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(drip);
      resolve((performance.now() - began) / 1000);
    });
  });
}

test('connections that are slow on purpose are closed after 20 s, and nobody else notices', async () => {
  const attacks = services.flatMap((service) =>
    CLIENTS.flatMap(([what, first, then]) =>
      Array.from({ length: 50 }, async () => ({ what, seconds: await keptFor(service, first, then) })),
    ),
  );
  const slowest: number[] = [];
  const ended = new AbortController();
  const probing = (async () => {
    while (!ended.signal.aborted)
      for (const { url } of services) {
        const began = performance.now();
        expect((await call(`${url}/health`, { timeoutMs: 10_000 })).status).toBe(200);
        slowest.push(performance.now() - began);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
  })();
  const kept = await Promise.all(attacks);
  ended.abort();
  await probing;
  // Looked at every two seconds; the rest is for a busy machine.
  expect(kept.filter(({ seconds }) => seconds > 35)).toEqual([]);
  expect(kept.filter(({ what, seconds }) => what !== 'half a request line' && seconds < 15)).toEqual([]);
  expect(Math.max(...slowest)).toBeLessThan(2_000);
});
