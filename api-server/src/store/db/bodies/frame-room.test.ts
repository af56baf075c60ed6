import { zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { frameRoom } from './frame-room.ts';

test.each([
  [0, 64],
  [100, 101],
  [255, 256],
  [256, 257],
  [300, 301],
  [65_791, 65_792],
  [65_792, 65_793],
  [3_000_000, 3_000_001],
  [20_000_000, undefined],
])('a frame with %i bytes of content fits into %s', (size, room) => {
  const frame = zstdCompressSync(Buffer.alloc(size, 'some words '));
  expect(frameRoom(frame)).toBe(room);
  const inside = Buffer.concat([Buffer.from('before'), frame]);
  expect(frameRoom(inside.subarray(6))).toBe(room);
});

test('what is cut off says nothing of its room', () => {
  const frame = zstdCompressSync(Buffer.alloc(70_000, 'x'));
  for (const length of [0, 4, 5, 8]) expect(frameRoom(frame.subarray(0, length))).toBeUndefined();
});
