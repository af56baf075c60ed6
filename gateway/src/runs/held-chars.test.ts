import { expect, test } from 'vitest';
import { heldChars } from './held-chars.ts';

test('JSON takes memory for its values and as much for their names, more than the heap has for objects that share none', () => {
  expect(heldChars('"a:b,c"')).toBe(7);
  expect(heldChars('[1,2]')).toBe(5 + 2 * 44);
  expect(heldChars('{"a":1}', '{"b":{}}')).toBe(7 + (2 + 3) * 44);
  const depth = 50;
  const deep = Array.from({ length: depth }, (_, at) => `{"n${at}":`).join('') + '1' + '}'.repeat(depth);
  expect((heldChars(deep) - deep.length) * 2).toBe(176 * depth);
});
