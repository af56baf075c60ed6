import { expect, test } from 'vitest';
import { DAY_MS } from '../../../analytics/window.ts';
import { openTestStore } from '../../../web/fixtures/store.ts';
import { packedParts } from './kept-parts.ts';

const BYTES = 10;
const PARTS = 12;

test('a packed part is read once while there is room', async () => {
  const store = await openTestStore();
  try {
    const { db, write } = store.database;
    await write(async (tx) => {
      for (let part = 0; part < PARTS; part += 1)
        await tx.db
          .insertInto('packed_runs')
          .values({ day: DAY_MS, part, body: new Uint8Array(BYTES) })
          .execute();
    });
    /** What the first byte of each part says. */
    const read = async (most?: number): Promise<number[]> => {
      const found: number[] = [];
      for await (const parts of packedParts(db, { from: 0, to: 3 * DAY_MS }, most))
        found.push(...parts.map(({ body }) => body[0] ?? -1));
      return found;
    };
    const fill = (byte: number) =>
      write((tx) =>
        tx.db
          .updateTable('packed_runs')
          .set({ body: new Uint8Array(BYTES).fill(byte) })
          .execute(),
      );

    const first = await read();
    await fill(1);
    expect([first, await read()]).toEqual([Array<number>(PARTS).fill(0), Array<number>(PARTS).fill(0)]);

    // What there is no room for is read again.
    await read(5 * BYTES);
    await fill(2);
    expect(await read(5 * BYTES)).toEqual([...Array<number>(7).fill(2), 0, 0, 0, 2, 2]);
  } finally {
    await store.close();
  }
});
