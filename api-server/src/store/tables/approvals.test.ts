import type { KyselyPlugin } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { notificationOf } from '../../notify/fixtures/run.ts';
import { openTestStore, runIdOf, type TestStore } from '../../web/fixtures/store.ts';
import { messagesOf } from './approvals.ts';
import { insertNotifications } from './outbox.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
  await store.addRun(1);
});
afterEach(() => store.close());

/** The database, and how many rows were read through it. */
function counting() {
  const read = { rows: 0 };
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      read.rows += result.rows.length;
      return result;
    },
  };
  return { db: store.database.db.withPlugin(plugin), read };
}

test('of the messages of a run those of one question to chats are read, and no others', async () => {
  const runId = runIdOf(1);
  const asked = ['a', 'ab', 'b'].flatMap((id) =>
    (['slack', 'log', 'telegram'] as const).map((channel, at) => ({
      ...notificationOf({ id: `${runId}/approval/${id}/${at}`, runId, channel }),
      event: 'approval' as const,
    })),
  );
  const forwarded = notificationOf({ id: `${runId}/approval/b/0/fallback/17`, runId, channel: 'slack' });
  await store.database.write((tx) => insertNotifications(tx, [...asked, forwarded]));
  const { db, read } = counting();
  const channels = async (id: string) => (await messagesOf(db, { id, runId })).map(({ channel }) => channel);
  expect(await channels('ab')).toEqual(['slack', 'telegram']);
  expect(read.rows).toBe(2);
  expect((await channels('b')).toSorted()).toEqual(['slack', 'slack', 'telegram']);
  expect(await channels('c')).toEqual([]);
});
