import { expect, test } from 'vitest';
import { createAnsweredFetch } from './answered-fetch.ts';

const REST = { method: 'GET', headers: { 'last-event-id': 'kept' } };
const request = (id: number) => ({
  method: 'POST',
  body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call' }),
});

/** A server whose every answer is an event stream that ends after an event with an id. */
function server() {
  const awaited = new Set([1]);
  const asked: string[] = [];
  const answers = createAnsweredFetch({
    inner: (_, init) => {
      asked.push(init?.method ?? 'GET');
      return Promise.resolve(new Response('id: kept\ndata:\n\n', { headers: { 'content-type': 'text/event-stream' } }));
    },
    isAwaited: (id) => awaited.has(Number(id)),
    lost: () => {},
  });
  return { awaited, asked, fetch: (init: RequestInit) => answers.fetch('http://remote/mcp', init) };
}

test('the rest of an answer is asked for while somebody waits for it', async () => {
  const { asked, fetch } = server();
  await (await fetch(request(1))).text();
  expect((await fetch(REST)).status).toBe(200);
  expect(asked).toEqual(['POST', 'GET']);
});

test('the rest of an answer that nobody waits for is not asked for', async () => {
  const { awaited, asked, fetch } = server();
  await (await fetch(request(1))).text();
  awaited.clear();
  expect((await fetch(REST)).status).toBe(405);
  expect(asked).toEqual(['POST']);
});

test('a stream of the server’s own goes on where it was', async () => {
  const { awaited, asked, fetch } = server();
  awaited.clear();
  expect((await fetch(REST)).status).toBe(200);
  expect(asked).toEqual(['GET']);
});

test.each([{ id: 1, result: {} }, { method: 'notifications/cancelled' }])(
  'a message that has no answer is given up where the server does not accept it: %o',
  async (message) => {
    const answers = createAnsweredFetch({
      inner: (_, init) =>
        new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('late')))),
      isAwaited: () => false,
      lost: () => {},
      acceptMs: 10,
    });
    const sent = answers.fetch('http://remote/mcp', { method: 'POST', body: JSON.stringify(message) });
    await expect(sent).rejects.toThrow('late');
  },
);
