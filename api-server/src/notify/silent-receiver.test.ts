import { expect, test } from 'vitest';
import type { Prepared } from './channel.ts';
import { AT, notificationOf } from './fixtures/run.ts';
import { Sender, UNANSWERED_WAIT_MS } from './sender.ts';
import type { Claimed } from './settle.ts';

/** A row by the address it goes to; `by` is the author of the address. */
type Row = string | { url: string; by: string | null; tenant?: string };

/**
 * A sender with rows in memory, each of a pipeline of its own: whoever is in `dead` never answers, and who is in `strict`, with the time from
 * which it does, takes one message a second and none for half a minute after more.
 */
function site(given: readonly Row[], tryMs = 20) {
  const dead = new Set<string>();
  const strict = new Map<string, number>();
  const tried: string[] = [];
  const lookedAt = new Map<string, number>();
  let clock = AT;
  const rows = given.map((row, at) => ({
    ...(typeof row === 'string' ? { url: row, by: null, tenant: undefined } : { tenant: undefined, ...row }),
    dueAt: AT + at,
    sent: false,
    claimed: {
      ...notificationOf({ id: `run/${at}` }),
      pipeline: `p${at}`,
      attempts: 0,
      tries: [],
      triedFrom: AT,
    } as Claimed,
  }));
  const rowOf = (id: string) => rows.find(({ claimed }) => claimed.id === id)!;
  const prepared = ({ url, by }: (typeof rows)[number]): Prepared => ({
    ok: true,
    target: url,
    byAuthor: by !== null,
    secrets: [],
    send: async (_, { signal }) => {
      tried.push(url);
      const from = strict.get(url) ?? 0;
      if (strict.has(url)) strict.set(url, clock + (clock < from ? 30_000 : 1_000));
      if (clock < from)
        return { ok: false, message: 'answered 429', retryable: true, limited: true, retryAfterMs: 30_000 };
      if (!dead.has(url)) return { ok: true };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { ok: false, message: 'nothing', retryable: true };
    },
  });
  const sender = new Sender({
    outbox: {
      claim: async ({ limit, until }) => {
        const due = rows.filter(({ sent, dueAt }) => !sent && dueAt <= clock).toSorted((a, b) => a.dueAt - b.dueAt);
        return due.slice(0, limit).map((row) => {
          row.dueAt = until;
          lookedAt.set(row.claimed.id, (lookedAt.get(row.claimed.id) ?? 0) + 1);
          return row.claimed;
        });
      },
      settle: async ({ id, status, nextAt }) =>
        void Object.assign(rowOf(id), { sent: status === 'sent', dueAt: nextAt ?? Infinity }),
      prune: async () => ({ done: 0, undelivered: 0 }),
    },
    prepare: async ({ id }) => prepared(rowOf(id)),
    authorOf: async ({ pipeline }) => {
      const { by, tenant } = rows.find(({ claimed }) => claimed.pipeline === pipeline)!;
      return { name: tenant ?? by ?? '', isTenant: tenant !== undefined };
    },
    http: () => Promise.reject(new Error('not used')),
    guardedHttp: () => Promise.reject(new Error('not used')),
    mask: (text) => text,
    log: { info: () => undefined, warn: () => undefined },
    now: () => clock,
    tryMs,
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
  const paced = sender.paced.bind(sender);
  const sentBetween = (from: number, to: number) => rows.slice(from, to).filter(({ sent }) => sent).length;
  return { dead, strict, look, lookedAt, paced, sentBetween, isSent: (at: number) => rows[at]?.sent };
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

const many = (by: string, count = 40) =>
  Array.from({ length: count }, (_, at) => ({ url: `https://${by}-${at}.example`, by }));

test('an author who names many addresses in many pipelines takes no more places with them', async () => {
  const { dead, look, isSent } = site([...many('shop'), ...many('pay', 1), 'https://chat.example'], 1_000);
  for (const { url } of many('shop')) dead.add(url);
  const tried = await look(1);
  expect(tried.filter((url) => dead.has(url))).toEqual(many('shop', 3).map(({ url }) => url));
  expect([isSent(40), isSent(41)]).toEqual([true, true]);
});

test('authors together leave places for the channels of the operator', async () => {
  const authors = ['a', 'b', 'c', 'd'].flatMap((by) => many(by, 10));
  const { dead, look, isSent } = site([...authors, 'https://chat.example'], 1_000);
  for (const { url } of authors) dead.add(url);
  expect((await look(1)).indexOf('https://chat.example')).toBe(6);
  expect(isSent(40)).toBe(true);
});

test('what waits long for its turn is looked at seldom', async () => {
  const { dead, look, lookedAt } = site(many('shop', 200));
  for (const { url } of many('shop', 200)) dead.add(url);
  for (let passed = 0; passed < 3_600; passed += 60) await look(60);
  lookedAt.clear();
  for (let passed = 0; passed < 600; passed += 10) await look(10);
  expect(Math.max(...lookedAt.values())).toBeLessThan(4);
});

test('a tenant with thousands of messages to addresses that never answer has few of them looked at', async () => {
  const rows = many('shop', 2_000).map((row) => ({ ...row, tenant: 'shop' }));
  const { dead, look, lookedAt } = site(rows);
  for (const { url } of rows) dead.add(url);
  for (let passed = 0; passed < 60; passed += 1) await look(1);
  lookedAt.clear();
  for (let passed = 0; passed < 60; passed += 1) await look(1);
  const looks = lookedAt.values().reduce((all, times) => all + times, 0);
  expect(looks).toBeLessThan(600);
});

test('of hundreds of messages of a tenant the last ones are due later, and those of others are not', () => {
  const { paced } = site([]);
  const of = (tenant: string | null) => paced(notificationOf({ id: 'one' }), tenant).createdAt;
  const many = Array.from({ length: 400 }, () => of('shop'));
  expect(many.slice(0, 100)).toEqual(many.slice(0, 100).fill(AT));
  expect(many.at(-1)).toBe(AT + 59_800);
  expect([of('pay'), of(null)]).toEqual([AT, AT]);
});

test('a tenant whose messages go through the channels of the operator leaves places for those of others', async () => {
  const own = Array.from({ length: 40 }, () => ({ url: 'https://mail.example', by: null, tenant: 'shop' }));
  const { dead, look, isSent } = site([...own, 'https://chat.example'], 1_000);
  dead.add('https://mail.example');
  expect((await look(1)).filter((url) => dead.has(url))).toHaveLength(3);
  expect(isSent(40)).toBe(true);
});

test('a tenant with more messages than a chat takes does not hold up those of others to it', async () => {
  const url = 'https://chat.example';
  const rows = [
    ...Array.from({ length: 200 }, () => ({ url, by: null, tenant: 'shop' })),
    { url, by: null, tenant: 'pay' },
    ...Array.from({ length: 9 }, () => url),
  ];
  const { strict, look, sentBetween } = site(rows);
  strict.set(url, 0);
  for (let passed = 0; passed < 60; passed += 1) await look(1);
  expect(sentBetween(201, 210)).toBe(9);
  for (let passed = 0; passed < 60; passed += 1) await look(1);
  expect(sentBetween(200, 201)).toBe(1);
  for (let passed = 0; passed < 600; passed += 1) await look(1);
  expect(sentBetween(0, 200)).toBeGreaterThan(5);
});

test('of a hundred messages of a tenant that are due at once most are sent within seconds: looks take none of their time', async () => {
  const rows = many('shop', 100).map((row) => ({ ...row, tenant: 'shop' }));
  const { look, paced, sentBetween } = site(rows);
  for (const { url } of rows) paced({ createdAt: 0, url } as never, 'shop');
  for (let passed = 0; passed < 8; passed += 1) await look(1);
  expect(sentBetween(0, 100)).toBeGreaterThan(80);
});
