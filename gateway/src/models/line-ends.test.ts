import { expect, test } from 'vitest';
import { boundEvents } from './bound-events.ts';
import { createLineEnds } from './line-ends.ts';

test.each([
  ['data: 1\n\ndata: 2\n\n', 'data: 1\n\ndata: 2\n\n'],
  ['data: 1\r\rdata: 2\r\r', 'data: 1\n\ndata: 2\n\n'],
  ['data: 1\r\n\r\ndata: 2\r\n\n', 'data: 1\n\ndata: 2\n\n'],
  ['\n\r\r\n\n\r\rĊ\n', '\n\n\n\n\n\nĊ\n'],
])('all ends of lines are one, however the stream is cut: %j', (stream, written) => {
  const bytes = Buffer.from(stream);
  for (const size of [1, 2, 3, 5, 100]) {
    const lineEnds = createLineEnds();
    const parts = [];
    for (let at = 0; at < bytes.length; at += size) parts.push(lineEnds(bytes.subarray(at, at + size)));
    expect(Buffer.concat(parts).toString()).toBe(written);
  }
});

test('a chunk without such lines is not copied', () => {
  const chunk = Buffer.from('data: 1\n\n');
  expect(createLineEnds()(chunk)).toBe(chunk);
});

test('an SDK reads no other ends of lines in a stream', async () => {
  const seen: string[] = [];
  const inner = () => Promise.resolve(new Response('data: 1\rdata: 2\r\n\rdata: 3\r\r'));
  const response = await boundEvents(inner, () => (data) => seen.push(data))('http://provider/');
  expect(await response.text()).toBe('data: 1\ndata: 2\n\ndata: 3\n\n');
  expect(seen).toEqual([' 1\n 2', ' 3']);
});
