import { expect, test } from 'vitest';
import { freePort } from './scratch.ts';

test('no port is given twice, and none that an outgoing connection could take', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  expect(new Set(ports).size).toBe(20);
  for (const port of ports) expect(port).toBeLessThan(32_768);
});
