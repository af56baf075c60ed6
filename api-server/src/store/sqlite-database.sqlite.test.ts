import { expect, test } from 'vitest';
import { newTestDatabase } from './fixtures/test-database.ts';

test('a second process is refused while the first is there', async () => {
  const site = await newTestDatabase();
  const first = await site.open();
  try {
    await expect(site.open()).rejects.toThrow('is in use by another process');
  } finally {
    await first.close();
    await site.remove();
  }
});
