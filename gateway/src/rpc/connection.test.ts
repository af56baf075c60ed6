import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { until } from '../testing/until.ts';
import { Connection, type ConnectionDeps } from './connection.ts';

function connect(overrides: Partial<ConnectionDeps> = {}, onSend = () => {}) {
  const done: string[] = [];
  const sent: string[] = [];
  const bugs: unknown[] = [];
  const note = (what: string) => () => void done.push(what);
  const socket = Object.assign(new EventEmitter(), {
    pause: () => undefined,
    resume: () => undefined,
    readyState: 1,
    OPEN: 1,
    bufferedAmount: 0,
    send: (text: string) => {
      sent.push(text);
      onSend();
    },
    ping: note('ping'),
    terminate: note('terminate'),
  });
  const connection = new Connection(socket as unknown as WebSocket, {
    handle: () => Promise.resolve({ ok: true, result: null }),
    peer: 'token invoke',
    onClosed: () => undefined,
    onBug: (error) => void bugs.push(error),
    maxFrameBytes: 1000,
    maxFrameValues: 1000,
    stream: { cork: () => undefined, uncork: () => undefined },
    ...overrides,
  });
  return { socket, connection, done, sent, bugs };
}

test.each([
  ['answered the last ping', 'pong', ['ping', 'ping']],
  ['sends, so that its answer waits behind', 'message', ['ping', 'ping']],
  ['is silent', 'nothing', ['ping', 'terminate']],
])('a peer that %s', (_, event, expected) => {
  const { socket, connection, done } = connect();
  connection.checkAlive();
  socket.emit(event, Buffer.from('{}'), false);
  connection.checkAlive();
  expect(done).toEqual(expected);
});

test('an event that is no frame is left out, which is said once, and the next one is sent', async () => {
  const { connection, sent, bugs } = connect();
  for (const size of [2000, 2000, 1]) connection.notify('agent.event', () => JSON.stringify('x'.repeat(size)));
  await until(() => sent.length > 0);
  expect(sent).toEqual(['{"jsonrpc":"2.0","method":"agent.event","params":"x"}']);
  expect(bugs).toEqual([expect.objectContaining({ message: expect.stringContaining('does not fit a frame') })]);
});

test('an exception in what nobody waits for is logged as a bug, and the connection goes on', async () => {
  const boom = new Error('boom');
  const fail = () => {
    throw boom;
  };
  const { socket, connection, sent, bugs } = connect({ onClosed: fail });
  connection.notify('agent.event', fail);
  await until(() => bugs.length === 1);
  connection.notify('agent.event', () => '1');
  await until(() => sent.length > 0);
  socket.emit('close');
  await until(() => bugs.length === 2);
  expect(bugs).toEqual([boom, boom]);
});

test('a request counts as what it takes once it is read, with its values and their names', async () => {
  const sizes: number[] = [];
  const handle = (_request: unknown, _connection: unknown, bytes: number) => {
    sizes.push(bytes);
    return Promise.resolve({ ok: true as const, result: null });
  };
  const { socket } = connect({ handle });
  for (const params of ['["abc"]', '{"a":1}', '{"a":{"b":1}}'])
    socket.emit('message', Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"m","params":${params}}`), false);
  await until(() => sizes.length === 3);
  const [list = 0, object = 0, deep = 0] = sizes;
  expect([object - list, deep - object]).toEqual([88, 2 * 88 + 6]);
});

test('what is asked on a connection that has ended is given up at once, so that the next client is asked', async () => {
  const { socket, connection } = connect();
  socket.emit('close');
  const { signal } = new AbortController();
  const asked = () => connection.request('tool.request_approval', {}, signal);
  for (const _ of ['as it ends', 'later']) await expect(asked()).rejects.toThrow('the connection closed');
});

test('what many connections wait for is sent in turns, to each the events of a run in their order and then its answer', async () => {
  const run = Promise.withResolvers<{ ok: boolean; json: string }>();
  const inTurn = [0];
  const turns = setInterval(() => setImmediate(() => inTurn.push(0)), 0);
  let called = 0;
  const later = async () => {
    called += 1;
    return { later: run.promise, held: null };
  };
  const all = Array.from({ length: 64 }, () =>
    connect({ handle: later, maxFrameBytes: 100_000, maxFrameValues: 100_000 }, () => {
      inTurn.push((inTurn.pop() ?? 0) + 1);
      const end = performance.now() + 1;
      while (performance.now() < end);
    }),
  );
  const sent = all.map((one) => one.sent);
  for (const { socket } of all) socket.emit('message', Buffer.from('{"jsonrpc":"2.0","id":1,"method":"m"}'), false);
  await until(() => called === all.length);
  for (const event of ['1', '2']) for (const { connection } of all) connection.notify('event', () => event);
  await until(() => sent.every((texts) => texts.length === 2));
  for (const { connection } of all) connection.notify('event', () => '3');
  run.resolve({ ok: true, json: `${'0'.repeat(20_000)}4` });
  await until(() => sent.every((texts) => texts.length === 4));
  clearInterval(turns);
  expect(Math.max(...inTurn)).toBeLessThan(30);
  for (const texts of sent) expect(texts.map((text) => /([1-4])\}$/.exec(text)?.[1])).toEqual(['1', '2', '3', '4']);
});
