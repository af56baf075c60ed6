import { setImmediate as turn } from 'node:timers/promises';
import { forAsker } from '@signalbox/crds/process/asker';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Database } from './database.ts';
import { newTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';
import { createReaderThreads, type ReaderThreads } from './reader-threads.ts';

let site: TestDatabase;
let database: Database;
let threads: ReaderThreads;
const never = new AbortController().signal;

const open = (limits: { threads?: number; timeoutMs?: number; maxWaiting?: number; idleMs?: number } = {}) => {
  threads = createReaderThreads({ at: site.location, ...limits });
};
beforeEach(async () => {
  site = await newTestDatabase();
  database = await site.open();
  open();
});
afterEach(async () => {
  await threads.close();
  await database.close();
  await site.remove();
});

const counting = (to: number) =>
  sql<{
    n: number;
  }>`with recursive c(n) as (select 1 union all select n + 1 from c where n < ${to}) select count(*) as n from c`;
const count = async (to: number, signal = never) => (await counting(to).execute(threads.reader(signal))).rows[0]?.n;
const LONG = 3_000_000;

test('the event loop goes on while the thread reads, which it does not beside it', async () => {
  const first = (answer: Promise<unknown>) => Promise.race([answer.then(() => 'answer'), turn('a turn of the loop')]);
  const answer = count(LONG);
  expect(await first(answer)).toBe('a turn of the loop');
  expect(await answer).toBe(LONG);
  expect(await first(counting(LONG).execute(database.db))).toBe('answer');
});

test('a thread sees what is committed, and writes nothing', async () => {
  await database.write(({ db }) => db.insertInto('marks').values({ name: 'm', value: 7 }).execute());
  expect(await threads.reader(never).selectFrom('marks').selectAll().execute()).toEqual([{ name: 'm', value: 7 }]);
  await expect(threads.reader(never).deleteFrom('marks').execute()).rejects.toThrow('readonly');
  expect(await count(3)).toBe(3);
});

const COUNT_MARKS = new URL('../fixtures/count-marks.ts', import.meta.url);

test('a thread answers a question with what is committed, and goes on after one that failed', async () => {
  await database.write(({ db }) => db.insertInto('marks').values({ name: 'm', value: 7 }).execute());
  expect(await threads.ask(COUNT_MARKS, ['m', 'n'], never)).toEqual({ marks: 1 });
  await expect(threads.ask(COUNT_MARKS, 'm', never)).rejects.toThrow('names are asked for');
  expect(await threads.ask(COUNT_MARKS, ['n'], never)).toEqual({ marks: 0 });
});

test('a question that fills the memory of its thread is refused, and the next one has a new thread', async () => {
  const fill = new URL('../fixtures/fill-memory.ts', import.meta.url);
  await expect(threads.ask(fill, null, never)).rejects.toMatchObject({ type: 'unavailable' });
  expect(await threads.ask(COUNT_MARKS, ['n'], never)).toEqual({ marks: 0 });
});

test('a question that is not wanted any more is answered at once', async () => {
  const leaves = new AbortController();
  const asked = threads.ask(COUNT_MARKS, ['m'], leaves.signal);
  leaves.abort();
  await expect(asked).rejects.toMatchObject({ type: 'unavailable' });
});

test('a page that asks for much does not hold up who asks for one thing', async () => {
  const heavy = new AbortController().signal;
  const ended: string[] = [];
  const asked = [1, 2, 3, 4, 5, 6].map((n) => count(LONG, heavy).then(() => ended.push(`heavy ${n}`)));
  await Promise.all([...asked, count(2).then(() => ended.push('light'))]);
  expect(ended.indexOf('light')).toBeLessThan(4);
});

test('who asks for much in many requests does not hold up another, and is who is refused where too many wait', async () => {
  open({ threads: 1, maxWaiting: 6 });
  const ended: string[] = [];
  const ask = (name: string, to: number) =>
    forAsker(name, () => count(to, new AbortController().signal)).then(
      () => ended.push(name),
      () => ended.push(`${name} is refused`),
    );
  await Promise.all([...Array.from({ length: 7 }, () => ask('greedy', LONG)), ask('ana', 2), ask('ben', 2)]);
  expect(ended).toEqual([
    'greedy is refused',
    'greedy is refused',
    'greedy',
    'ana',
    'ben',
    'greedy',
    'greedy',
    'greedy',
    'greedy',
  ]);
});

test('what gives up has its answer at once and the next has its turn', async () => {
  const leaves = new AbortController();
  const running = count(LONG, leaves.signal);
  const waiting = count(2, leaves.signal);
  const other = count(3);
  leaves.abort();
  await expect(running).rejects.toMatchObject({ type: 'unavailable' });
  await expect(waiting).rejects.toMatchObject({ type: 'unavailable' });
  await expect(count(2, leaves.signal)).rejects.toMatchObject({ type: 'unavailable' });
  expect(await other).toBe(3);
});

test('a query has a time', async () => {
  open({ timeoutMs: 1 });
  await expect(count(LONG)).rejects.toMatchObject({ type: 'unavailable' });
});

test('no more wait than the bound', async () => {
  open({ threads: 1, maxWaiting: 1 });
  const [running, waiting] = [count(LONG), count(2)];
  await expect(count(3)).rejects.toMatchObject({ type: 'unavailable' });
  expect([await running, await waiting]).toEqual([LONG, 2]);
});

test('a thread without work ends, and the next question has a new one', async () => {
  open({ threads: 1, idleMs: 1 });
  const ask = () => threads.ask(new URL('../fixtures/thread-id.ts', import.meta.url), null, never);
  const first = await ask();
  await expect.poll(ask).not.toBe(first);
});

test('a closed thread refuses', async () => {
  expect(await count(2)).toBe(2);
  await threads.close();
  await expect(count(2)).rejects.toMatchObject({ type: 'unavailable' });
});

test('questions go on after the work that they rested for has failed', async () => {
  const listeners = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  const failed = new Promise((resolve) => process.once('unhandledRejection', resolve));
  threads.quietly(() => Promise.reject(new Error('no thread is left')));
  expect(await failed).toMatchObject({ message: 'no thread is left' });
  for (const listener of listeners) process.on('unhandledRejection', listener);
  expect(await count(3)).toBe(3);
});
