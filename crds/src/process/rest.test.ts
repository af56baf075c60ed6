import { expect, test } from 'vitest';
import { createPieces } from './rest.ts';

test('other work gets between the parts of a large chunk', async () => {
  let turns = 0;
  let counting: NodeJS.Immediate;
  const count = () => {
    turns += 1;
    counting = setImmediate(count);
  };
  counting = setImmediate(count);
  const parts: number[] = [];
  const chunk = new Uint8Array(64 * 1024 + 5);
  for await (const part of createPieces()(chunk)) parts.push(part.length);
  clearImmediate(counting);
  expect(parts).toEqual([...Array.from({ length: 8 }, () => 8192), 5]);
  expect(turns).toBeGreaterThanOrEqual(8);
});
