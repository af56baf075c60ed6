import { expect, test } from 'vitest';
import { createEventIds, MAX_ID_BYTES } from './event-ids.ts';

const BOM = '\u00EF\u00BB\u00BF';

/** What passes of a stream in such chunks, where `<id>` stands for what is put behind an event. A character is a byte. */
function pass(stream: string, size = stream.length) {
  let isTooLong = false;
  const filter = createEventIds({ onId: (id) => `<${encodeURI(id)}>`, onTooLong: () => (isTooLong = true) });
  const bytes = Buffer.from(stream, 'latin1');
  const parts = [];
  for (let at = 0; at < bytes.length; at += size) parts.push(filter(bytes.subarray(at, at + size)));
  return { text: Buffer.concat(parts).toString('latin1'), isTooLong };
}

test.each([
  ['an event', 'id: a\ndata: 1\n\n', ':\ndata: 1\n\n<a>'],
  ['lines that end otherwise', 'id:a\rdata: 1\r\rid: b\r\ndata: 2\r\n\r\n', ':\ndata: 1\n\n<a>:\ndata: 2\n\n<b>'],
  ['an event that does not end', 'id: a\ndata: 1\n\nid: b\ndata: 2\n', ':\ndata: 1\n\n<a>:\ndata: 2\n'],
  ['a mark before it', `${BOM}id: a\n\n`, ':\n\n<a>'],
  ['letters that end a line elsewhere', 'id: \u00E2\u0080\u00A8a\u0085\n\n', ':\n\n<%C3%A2%C2%80%C2%A8a%C2%85>'],
  ['none, or one that counts as none', 'id\nid:\nid: a\0\n\n', 'id\n:\n:\n\n'],
  ['several', 'id: a\nid: b\n\n', ':\n:\n\n<b>'],
  ['weeks', 'retry: 2000000000\nretry: 10\nretry: x\n', 'retry:300000\nretry:10\n:\n'],
  ['other lines', 'idle: 1\nretries\n:id: a\ndata: id: a\n\n', 'idle: 1\nretries\n:id: a\ndata: id: a\n\n'],
  ['a long line', `i${'x'.repeat(3000)}\ndata: y\n\n`, `i${'x'.repeat(3000)}\ndata: y\n\n`],
])('the client sees no id of the server and waits for minutes at most: %s', (_, stream, seen) => {
  for (const size of [1, 3, 10_000]) expect(pass(stream, size)).toEqual({ text: seen, isTooLong: false });
});

test.each(['id: ', 'retry: ', `${BOM}id:`])('a line that is too long is told: %s', (field) => {
  const line = field + '1'.repeat(MAX_ID_BYTES);
  for (const size of [1, 700, 10_000]) expect(pass(`data: x\n${line}`, size).isTooLong).toBe(true);
});
