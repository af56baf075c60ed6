import { expect, test } from 'vitest';
import { createAnsweredFetch } from './answered-fetch.ts';

const EVENTS = { accept: 'text/event-stream' };
const LISTEN = { method: 'GET', headers: EVENTS };
const rest = (ours: string) => ({ method: 'GET', headers: { ...EVENTS, 'last-event-id': ours } });
const request = (id: number) => ({
  method: 'POST',
  body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call' }),
});

/** A server whose every answer is this event stream, with the ids that it is asked for the rest of. */
function server(events = 'id: kept\ndata:\n\n') {
  const awaited = new Set([1]);
  const asked: (string | null)[] = [];
  const answers = createAnsweredFetch({
    inner: (_, init) => {
      asked.push(init?.method === 'GET' ? new Headers(init.headers).get('last-event-id') : 'POST');
      return Promise.resolve(new Response(events, { headers: { 'content-type': 'text/event-stream' } }));
    },
    isAwaited: (id) => awaited.has(Number(id)),
    lost: () => {},
    onFlood: () => {},
  });
  const fetch = (init: RequestInit) => answers.fetch('http://remote/mcp', init);
  return { awaited, asked, fetch, giveUp: answers.giveUpUnawaited };
}

test('the rest of an answer is asked for while somebody waits for it', async () => {
  const { asked, fetch } = server();
  expect(await (await fetch(request(1))).text()).toBe(':\ndata:\n\nid: 1\ndata:\n\n');
  for (let count = 0; count < 3; count++) {
    const resumed = await fetch(rest('1'));
    // The same one, also where the server says none any more.
    expect(await resumed.text()).toBe('id: 1\ndata:\n\n:\ndata:\n\n');
  }
  expect(asked).toEqual(['POST', 'kept', 'kept', 'kept']);
});

test('the rest of an answer that nobody waits for is not asked for', async () => {
  const { awaited, asked, fetch, giveUp } = server();
  await (await fetch(request(1))).text();
  awaited.clear();
  expect((await fetch(rest('1'))).status).toBe(405);
  giveUp();
  awaited.add(1);
  expect((await fetch(rest('1'))).status).toBe(405);
  expect(asked).toEqual(['POST']);
});

test.each(['id: a\ndata:\n\nid: b\n', 'id: a\r\ndata:\r\n\r\nid: b\r\ndata: {', 'id: a\n\nid: b\0\n\n'])(
  'it is asked for from the last event that was complete: %j',
  async (events) => {
    const { asked, fetch } = server(events);
    await (await fetch(request(1))).text();
    await fetch(rest('1'));
    expect(asked).toEqual(['POST', 'a']);
  },
);

test('an id that is none of ours leads to nothing', async () => {
  const { asked, fetch } = server();
  await (await fetch(request(1))).text();
  for (const id of ['kept', '2', '0']) expect((await fetch(rest(id))).status).toBe(405);
  expect(asked).toEqual(['POST']);
});

test('an answer whose events were not complete has no rest', async () => {
  const { fetch } = server('id: a\ndata: {');
  expect(await (await fetch(request(1))).text()).toContain('it ended the stream before there was an answer');
});

test('a stream of the server’s own goes on where it was', async () => {
  const { asked, fetch, giveUp } = server();
  await (await fetch(LISTEN)).text();
  giveUp();
  expect((await fetch(rest('1'))).status).toBe(200);
  expect(asked).toEqual([null, 'kept']);
});

test('a server has four streams of its own at a time', async () => {
  const { asked, fetch } = server();
  const open = [];
  for (let count = 0; count < 5; count++) open.push(await fetch(LISTEN));
  expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200, 405]);
  await open[0]?.body?.cancel();
  await open[1]?.text();
  expect([(await fetch(LISTEN)).status, (await fetch(LISTEN)).status, (await fetch(LISTEN)).status]).toEqual([
    200, 200, 405,
  ]);
  expect(asked).toHaveLength(6);
});

test('a request that nobody waits for is not sent', async () => {
  const { asked, fetch } = server();
  await expect(fetch(request(2))).rejects.toThrow('nobody waits for its answer any more');
  expect(asked).toEqual([]);
});

test.each([{ id: 1, result: {} }, { method: 'notifications/cancelled' }])(
  'a message that has no answer is given up where the server does not accept it: %o',
  async (message) => {
    const answers = createAnsweredFetch({
      inner: (_, init) =>
        new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('late')))),
      isAwaited: () => false,
      lost: () => {},
      onFlood: () => {},
      acceptMs: 10,
    });
    const sent = answers.fetch('http://remote/mcp', { method: 'POST', body: JSON.stringify(message) });
    await expect(sent).rejects.toThrow('late');
  },
);
