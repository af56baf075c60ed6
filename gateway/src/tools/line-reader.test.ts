import { queryObjects } from 'node:v8';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineReader } from './line-reader.ts';

function readerOf(maxLineBytes: number) {
  const lines: string[] = [];
  return { lines, reader: new LineReader(maxLineBytes, (line) => lines.push(line)) };
}

test('lines are whole however the stream is cut', () => {
  const text = fc
    .array(fc.constantFrom('a', 'ö', '😀', '\r', '\n', '\n'), { maxLength: 60 })
    .map((all) => all.join(''));
  fc.assert(
    fc.property(text, fc.array(fc.nat(12), { minLength: 1, maxLength: 20 }), (written, sizes) => {
      const { lines, reader } = readerOf(1000);
      const bytes = Buffer.from(written);
      for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
        const size = 1 + (sizes[piece % sizes.length] ?? 0);
        reader.push(bytes.subarray(at, at + size));
        at += size;
      }
      return (
        lines.join('\n') ===
        written
          .split('\n')
          .slice(0, -1)
          .map((line) => line.replace(/\r$/, ''))
          .join('\n')
      );
    }),
  );
});

test.each([1, 3, 10, 100])('a line that is too long is told of at once, in pieces of %i', (size) => {
  const { lines, reader } = readerOf(10);
  const bytes = Buffer.from(`${'x'.repeat(10)}\n${'y'.repeat(11)}`);
  const answers: boolean[] = [];
  for (let at = 0; at < bytes.length; at += size) answers.push(reader.push(bytes.subarray(at, at + size)));
  expect(answers.at(-1)).toBe(false);
  expect(answers.slice(0, -1)).not.toContain(false);
  expect(lines).toEqual(['x'.repeat(10)]);
});

test('a line that comes byte by byte is not held piece by piece', () => {
  const { lines, reader } = readerOf(1024 * 1024);
  const before = queryObjects(Uint8Array, { format: 'count' });
  for (let count = 0; count < 20_000; count++) reader.push(Buffer.from([120]));
  expect(queryObjects(Uint8Array, { format: 'count' }) - before).toBeLessThan(1000);
  reader.push(Buffer.from('\n'));
  expect(lines[0]).toHaveLength(20_000);
});
