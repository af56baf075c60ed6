import { expect, test } from 'vitest';
import { openTestStore } from '../../web/fixtures/store.ts';
import { type BatchesDeps, createBatches } from './batches.ts';

test('the list of batches, which may have thousands of executions each, is read beside the event loop', async () => {
  const { database, close } = await openTestStore();
  try {
    const onlyLong = { reader: database.reader } as BatchesDeps['database'];
    const { list } = createBatches({
      database: onlyLong,
      replaySettings: { safeAgents: [] },
    } as unknown as BatchesDeps);
    expect(await list({ limit: 5 })).toEqual({ replays: [] });
  } finally {
    await close();
  }
});
