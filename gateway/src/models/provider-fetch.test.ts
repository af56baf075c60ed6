import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { openRoom } from './answer-room.ts';
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

/** The request of a call that goes on until the test ends. */
function callOf({ signal = new AbortController().signal, isStreamed = false } = {}) {
  const room = openRoom(signal, isStreamed);
  onTestFinished(() => room.end());
  return { ...post, signal };
}

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
    const answer = await providerFetch(url, callOf());
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
  await (await providerFetch(url, callOf())).text();
  expect((await providerFetch(url, callOf())).status).toBe(200);
  expect(count).toBe(3);
});

test('an answer that breaks off is a failure, and is not asked for once more', async () => {
  let count = 0;
  const { url } = await serve((_, response) => {
    count += 1;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
    response.write('{"half', () => response.socket?.resetAndDestroy());
  });
  const answer = await createProviderFetch()(url, callOf());
  await expect(answer.json()).rejects.toThrow('terminated');
  expect(count).toBe(1);
});

test('a redirect is an answer, not a place to take the key to', async () => {
  const elsewhere = await serve((_, response) => response.end('stolen'));
  const { url } = await serve((_, response) => response.writeHead(307, { location: elsewhere.url }).end());
  expect((await createProviderFetch()(url, callOf())).status).toBe(307);
});

test('a body without end is cut off', async () => {
  const { url } = await serve((_, response) => {
    const write = () => {
      if (response.writable) response.write('x'.repeat(1024 * 1024), write);
    };
    write();
  });
  const answer = await createProviderFetch()(url, callOf());
  await expect(answer.text()).rejects.toThrow('the provider sent more than 8388608 bytes for one answer');
});

/** Behind a byte order mark, also one that was encoded twice. */
const EVENTS = /^(\uFEFF|\u00EF\u00BB\u00BF)?data:/;
const many = (length: number) => JSON.stringify(Array.from({ length }, () => 1));
test.each([
  ['an answer of as many values as a model may say', `\uFEFF ${many(49_000)}`, true],
  ['text that looks like values', JSON.stringify({ text: ',[{\\"'.repeat(100_000) }), true],
  ['events of as many values each', `data: ${many(40_000)}\r\n\r\n`.repeat(3), true],
  ['an answer of too many values', many(51_000), false],
  ['an answer of too many values with blank lines', many(51_000).replaceAll(',', '\n\n,'), false],
  ['an event of too many values', `data: {}\n\ndata: ${many(51_000)}\n\n`, false],
  ['an event in many lines', `data: ${many(51_000).replaceAll(',', ',\r\ndata: ')}`, false],
  ['an event behind a comment that looks like a text', `data: {}\n: "\rdata: ${many(51_000)}`, false],
])('%s is read: %#', async (_, body, isRead) => {
  const { url } = await serve((_request, response) => response.end(body));
  const text = (await createProviderFetch()(url, callOf({ isStreamed: EVENTS.test(body) }))).text();
  if (isRead) expect(await text).toBe(body.replace('\uFEFF', ''));
  else await expect(text).rejects.toThrow('the provider sent more than 50000 values in one message');
});

test.each([
  ['an answer', JSON.stringify('x'.repeat(5_000_000)), true],
  ['many events', `data: ${'x'.repeat(100_000)}\n\n`.repeat(60), true],
  ['an event', `data: {}\n\ndata: ${'x'.repeat(5_000_000)}\n\n`, false],
  ['an event behind a mark', `\uFEFFdata: ${'x'.repeat(5_000_000)}\n\n`, false],
  ['an event behind a mark that was encoded twice', `\u00EF\u00BB\u00BFdata: ${'x'.repeat(5_000_000)}\n\n`, false],
  ['an event of many lines', `${`data: ${'x'.repeat(100_000)}\n`.repeat(60)}\n`, false],
])('%s of five megabytes is read: %#', async (_, body, isRead) => {
  const { url } = await serve((_request, response) => response.end(body));
  const text = (await createProviderFetch()(url, callOf({ isStreamed: EVENTS.test(body) }))).text();
  if (isRead) expect(await text).toBe(body);
  else await expect(text).rejects.toThrow('the provider sent more than 4194304 bytes in one event');
});

test.each(['\n', '\r', 'x\n', 'x\r\n'])('lines without end are cut off: %j', async (line) => {
  const { url } = await serve((_, response) => response.end(line.repeat(500_001)));
  const text = (await createProviderFetch()(url, callOf())).text();
  await expect(text).rejects.toThrow('the provider sent more than 500000 lines');
});

test('an answer that is compressed unasked is refused, as its size has no limit', async () => {
  const { url } = await serve((request, response) => {
    expect(request.headers['accept-encoding']).toBe('identity');
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{}'));
  });
  await expect(createProviderFetch()(url, callOf())).rejects.toThrow('fetch failed');
});

test('a call that is cancelled ends, before the answer and within it', async () => {
  const { url } = await serve((request, response) => {
    if (request.url === '/v1/begun') response.write('{');
  });
  const abort = new AbortController();
  const call = callOf({ signal: abort.signal });
  const waiting = createProviderFetch()(url, call);
  const begun = await createProviderFetch()(`${url}/begun`, call);
  abort.abort();
  await expect(waiting).rejects.toThrow('abort');
  await expect(begun.text()).rejects.toThrow('abort');
});
