import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byteOrder } from './source.ts';

test('files are ordered by their UTF-8 bytes', () => {
  const inBytes = (a: string, b: string) => Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\uffee', '😀', '𐀀') });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(byteOrder(a, b))).toBe(inBytes(a, b));
    }),
  );
  expect(byteOrder('\uffee', '😀')).toBeLessThan(0);
});
