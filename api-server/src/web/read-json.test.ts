import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJson } from './read-json.ts';

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

test('reads what JSON.parse reads, and refuses exactly what is deeper than 64', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(70), (value, extra) => {
      const nested = Array.from({ length: extra }).reduce<unknown>((inner) => [inner], value);
      const text = JSON.stringify(nested, null, 1);
      if (/__proto__|constructor/.test(text)) return;
      if (depthOf(nested) > 64) expect(() => readJson(Buffer.from(text))).toThrow('nested deeper');
      else expect(readJson(Buffer.from(text))).toEqual(JSON.parse(text));
    }),
  );
});

test('brackets and quotes inside strings do not count', () => {
  const text = JSON.stringify({ a: '[['.repeat(100), 'b"{{{': '\\"['.repeat(100) });
  expect(readJson(Buffer.from(text))).toEqual(JSON.parse(text));
});

test('any bytes give a value or a typed refusal', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      try {
        readJson(Buffer.from(bytes));
      } catch (error) {
        expect(error).toMatchObject({ type: 'validation' });
      }
    }),
  );
});

test('a word that only looks like a prototype key is taken', () => {
  expect(readJson(Buffer.from('{"text":"__proto__","constructor":"acme"}'))).toEqual({
    text: '__proto__',
    constructor: 'acme',
  });
});
