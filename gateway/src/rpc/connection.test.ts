import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { Connection } from './connection.ts';

function connect() {
  const done: string[] = [];
  const note = (what: string) => () => void done.push(what);
  const socket = Object.assign(new EventEmitter(), {
    pause: () => undefined,
    resume: () => undefined,
    send: () => undefined,
    ping: note('ping'),
    terminate: note('terminate'),
  });
  const connection = new Connection(socket as unknown as WebSocket, {
    handle: () => Promise.resolve({ ok: true, result: null }),
    onClosed: () => undefined,
    onBug: () => undefined,
    maxFrameBytes: 1000,
    maxFrameValues: 1000,
    stream: { cork: () => undefined, uncork: () => undefined },
  });
  return { socket, connection, done };
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
