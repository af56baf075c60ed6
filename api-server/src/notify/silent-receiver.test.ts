import { expect, test } from 'vitest';
import type { Prepared } from './channel.ts';
import { AT, notificationOf } from './fixtures/run.ts';
import { Sender, UNANSWERED_WAIT_MS } from './sender.ts';
import type { Claimed } from './settle.ts';

/** A sender with rows in memory: `url` of a row is where it goes, and whoever is in `dead` never answers. */
function site(urls: readonly string[], { byAuthor = false } = {}) {
  const dead = new Set<string>();
  const tried: string[] = [];
  let clock = AT;
  const rows = urls.map((url, at) => ({
    url,
    dueAt: AT + at,
    sent: false,
    claimed: { ...notificationOf({ id: `run/${at}` }), attempts: 0, tries: [], triedFrom: AT } as Claimed,
  }));
  const rowOf = (id: string) => rows.find(({ claimed }) => claimed.id === id)!;
  const prepared = (url: string): Prepared => ({
    ok: true,
    target: url,
    byAuthor,
    secrets: [],
    send: async (_, { signal }) => {
      tried.push(url);
      if (!dead.has(url)) return { ok: true };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { ok: false, message: 'nothing', retryable: true };
    },
  });
  const sender = new Sender({
    outbox: {
      claim: async ({ limit }) =>
        rows
          .filter(({ sent, dueAt }) => !sent && dueAt <= clock)
          .toSorted((a, b) => a.dueAt - b.dueAt)
          .slice(0, limit)
          .map(({ claimed }) => claimed),
      settle: async ({ id, status, nextAt }) =>
        void Object.assign(rowOf(id), { sent: status === 'sent', dueAt: nextAt ?? Infinity }),
      prune: async () => 0,
    },
    prepare: async ({ id }) => prepared(rowOf(id).url),
    http: () => Promise.reject(new Error('not used')),
    guardedHttp: () => Promise.reject(new Error('not used')),
    mask: (text) => text,
    log: { info: () => undefined, warn: () => undefined },
    now: () => clock,
    tryMs: 20,
    patience: { giveUpMs: 86_400_000, forward: () => null },
    recount: async () => undefined,
  });
  const look = async (seconds: number) => {
    clock += seconds * 1000;
    tried.length = 0;
    await sender.poll();
    await sender.settled();
    return [...tried];
  };
  return { dead, look, isSent: (at: number) => rows[at]?.sent };
}

const DEAD = 'https://dead.example';
const wait = UNANSWERED_WAIT_MS / 1000;

test('a receiver that never answers holds up no message for another one', async () => {
  const { dead, look, isSent } = site([...Array.from({ length: 40 }, () => DEAD), 'https://chat.example']);
  dead.add(DEAD);
  expect(await look(1)).toEqual([...Array.from({ length: 8 }, () => DEAD), 'https://chat.example']);
  expect(isSent(40)).toBe(true);
  // One message finds out whether it is back, then the others follow.
  expect(await look(wait + 20)).toEqual([DEAD]);
  dead.clear();
  expect((await look(wait + 20)).length).toBeGreaterThan(8);
});

test('an author who names many addresses gets no more tries with them', async () => {
  const urls = Array.from({ length: 40 }, (_, at) => `https://dead-${at}.example`);
  const { dead, look } = site(urls, { byAuthor: true });
  for (const url of urls) dead.add(url);
  expect(await look(1)).toHaveLength(8);
  expect(await look(1)).toEqual([]);
  expect(await look(wait + 20)).toHaveLength(1);
});
