import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { createProviderFetch } from './provider-fetch.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close(() => {}).closeAllConnections();
});

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}
const post = { method: 'POST', headers: { authorization: 'Bearer k' }, body: '{"a":"ä"}' };

test('it sends what fetch would and keeps the connection', async () => {
  const seen: unknown[] = [];
  const { url } = await serve((request, response) => {
    const { method, url: path, headers, socket } = request;
    request
      .setEncoding('utf8')
      .on('data', (body) => seen.push([method, path, headers.authorization, body, socket.remotePort]));
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'));
  });
  const providerFetch = createProviderFetch();
  for (let count = 0; count < 6; count++) {
    const answer = await providerFetch(url, post);
    expect(await answer.json()).toEqual({ ok: true });
    expect([...answer.headers].map(([name]) => name)).toContain('content-type');
  }
  for (const request of seen) expect(request).toEqual(['POST', '/v1', 'Bearer k', '{"a":"ä"}', expect.any(Number)]);
  expect(new Set(seen.map((request) => (request as unknown[]).at(-1))).size).toBeLessThanOrEqual(2);
});

test('a kept connection that the server closed is replaced without a failure', async () => {
  let count = 0;
  const { url } = await serve((request, response) => {
    count += 1;
    if (count === 2) return request.socket.resetAndDestroy();
    response.end('{}');
  });
  const providerFetch = createProviderFetch();
  await providerFetch(url, post);
  expect((await providerFetch(url, post)).status).toBe(200);
  expect(count).toBe(3);
});

test('an answer that breaks off is a failure, and is not asked for once more', async () => {
  let count = 0;
  const { url } = await serve((_, response) => {
    count += 1;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
    response.write('{"half', () => response.socket?.resetAndDestroy());
  });
  await expect(createProviderFetch()(url, post)).rejects.toThrow('fetch failed');
  expect(count).toBe(1);
});

test('a redirect is an answer, not a place to take the key to', async () => {
  const elsewhere = await serve((_, response) => response.end('stolen'));
  const { url } = await serve((_, response) => response.writeHead(307, { location: elsewhere.url }).end());
  expect((await createProviderFetch()(url, post)).status).toBe(307);
});

test('a body without end is cut off', async () => {
  const { url } = await serve((_, response) => {
    const write = () => {
      if (response.writable) response.write('x'.repeat(1024 * 1024), write);
    };
    write();
  });
  await expect(createProviderFetch()(url, post)).rejects.toThrow('fetch failed');
});

test('it remembers a hundred addresses and no more, and always asks the right one', async () => {
  const paths: (string | undefined)[] = [];
  const { url } = await serve((request, response) => {
    paths.push(request.url);
    response.end('{}');
  });
  const read: string[] = [];
  const Original = URL;
  vi.stubGlobal(
    'URL',
    class extends Original {
      constructor(text: string | URL, base?: string | URL) {
        super(text, base);
        if (this.search !== '') read.push(this.search);
      }
    },
  );
  try {
    const providerFetch = createProviderFetch();
    const ask = async (number: number) => (await providerFetch(`${url}?n=${number}`, post)).text();
    for (let number = 0; number < 100; number++) await ask(number);
    for (const number of [0, 99]) await ask(number);
    expect(read).toHaveLength(100);
    for (const number of [100, 0]) await ask(number);
    expect(read.slice(100)).toEqual(['?n=100', '?n=0']);
  } finally {
    vi.unstubAllGlobals();
  }
  expect(paths).toEqual(
    [...Array.from({ length: 100 }, (_, number) => number), 0, 99, 100, 0].map((n) => `/v1?n=${n}`),
  );
});
