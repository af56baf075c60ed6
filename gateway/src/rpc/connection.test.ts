import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { until } from '../testing/until.ts';
import { Connection } from './connection.ts';

function connect() {
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
    send: (text: string) => void sent.push(text),
    ping: note('ping'),
    terminate: note('terminate'),
  });
  const connection = new Connection(socket as unknown as WebSocket, {
    handle: () => Promise.resolve({ ok: true, result: null }),
    onClosed: () => undefined,
    onBug: (error) => void bugs.push(error),
    maxFrameBytes: 1000,
    maxFrameValues: 1000,
    stream: { cork: () => undefined, uncork: () => undefined },
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
