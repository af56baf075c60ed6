import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { createConnectionRoom } from './connection-room.ts';

/** A room of 1,000 bytes, and who was cut. */
function roomOf() {
  const cut: string[] = [];
  const enterRoom = createConnectionRoom({ unreadBytes: 0, unfinishedBytes: 1000 }, 6);
  const enter = (name: string) => {
    const [socket, stream] = [new EventEmitter(), new EventEmitter()];
    socket.on('error', () => {
      cut.push(name);
      socket.emit('close');
    });
    const shared = enterRoom(socket as WebSocket, stream as Duplex);
    const send = (bytes: number) => void stream.emit('data', Buffer.alloc(bytes));
    const ping = () => {
      send(6);
      socket.emit('ping', Buffer.alloc(0));
    };
    return { ...shared, send, ping };
  };
  return { cut, enter };
}

test('a message in small pieces counts as what they take', () => {
  const { cut, enter } = roomOf();
  const small = enter('small');
  for (let piece = 0; piece < 3; piece++) small.send(1);
  expect(cut).toEqual([]);
  small.send(1);
  expect(cut).toEqual(['small']);
});

test('a connection that only pings has begun nothing, and one that pings between the parts of a message has', () => {
  const { cut, enter } = roomOf();
  const [idle, begun, other] = [enter('idle'), enter('begun'), enter('other')];
  for (let count = 0; count < 100; count++) idle.ping();
  begun.send(200);
  begun.ping();
  expect(cut).toEqual([]);
  other.send(100);
  expect(cut).toEqual(['begun']);
});

test('a complete message counts until it is read', () => {
  const { cut, enter } = roomOf();
  const [first, second] = [enter('first'), enter('second')];
  first.send(600);
  const read = first.onMessage();
  read();
  second.send(600);
  const unread = second.onMessage();
  first.send(50);
  expect(cut).toEqual(['first']);
  unread();
});
