import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Renewal } from '../store/db/membership.ts';
import { createReplica, LEASE_MS, type Replica } from './replica.ts';

const NOTHING: Renewal = { leads: true, dead: false, work: false, cancellations: false, definitions: null };

/** A replica whose database answers what `answers` says, and what it did, in words. */
function begin() {
  const did: string[] = [];
  const answers = {
    renew: (): Promise<Renewal | null> => Promise.resolve(NOTHING),
    room: 5,
    nobodys: [] as string[],
    isAway: false,
  };
  let epoch = 0;
  const replica = createReplica({
    membership: {
      join: (before) => {
        if (answers.isAway) return Promise.reject(new Error('nobody answers'));
        did.push(`join after ${String(before)}`);
        return Promise.resolve(++epoch);
      },
      renew: () => answers.renew(),
      leave: (of) => Promise.resolve(void did.push(`leave ${of}`)),
      close: () => Promise.resolve(),
    },
    leaseMs: LEASE_MS,
    writeAs: (as) => void did.push(`write as ${as}`),
    claim: (limit) => Promise.resolve(answers.nobodys.splice(0, limit)),
    takeUp: (ids) => Promise.resolve(void did.push(`take up ${ids.join()}`)),
    release: () => Promise.resolve(void did.push('release')),
    stopRuns: () => Promise.resolve(void did.push('let go')),
    room: () => answers.room,
    cancelAsked: () => Promise.resolve(void did.push('cancel')),
    lead: (leads) => void did.push(leads ? 'lead' : 'follow'),
    definitionsChanged: () => undefined,
    monotonic: () => Date.now(),
    log: { info: () => undefined, warn: () => undefined },
    fenced: true,
  });
  replicas.push(replica);
  return { replica, did, answers };
}

const replicas: Replica[] = [];
beforeEach(() => vi.useFakeTimers());
afterEach(async () => {
  for (const replica of replicas.splice(0)) await replica.stop();
  vi.useRealTimers();
});

test('a replica that cannot renew its lease stops its runs before others may take them, and enters anew', async () => {
  const { replica, did, answers } = begin();
  await replica.start();
  answers.renew = () => Promise.reject(new Error('nobody answers'));
  answers.isAway = true;
  await vi.advanceTimersByTimeAsync(LEASE_MS * 0.79);
  expect(replica.holds()).toBe(true);
  expect(did).not.toContain('let go');
  await vi.advanceTimersByTimeAsync(LEASE_MS * 0.02);
  expect(replica.holds()).toBe(false);
  expect(did.slice(-3)).toEqual(['write as none', 'follow', 'let go']);
  answers.renew = () => Promise.resolve(NOTHING);
  answers.isAway = false;
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(did).toContain('join after 1');
  expect(did).toContain('write as 2');
  expect(replica.holds()).toBe(true);
});

test('a process that stood still lets its runs go before it believes what was stored', async () => {
  const { replica, did } = begin();
  await replica.start();
  vi.setSystemTime(Date.now() + LEASE_MS);
  expect(replica.holds()).toBe(false);
  expect(did.slice(-3)).toEqual(['write as none', 'follow', 'let go']);
});

test('a replica that was taken for dead lets its runs go at the next look', async () => {
  const { replica, did, answers } = begin();
  await replica.start();
  answers.renew = () => Promise.resolve(null);
  await vi.advanceTimersByTimeAsync(LEASE_MS / 5);
  expect(did).toContain('let go');
});

test('a renewal that comes too late is none', async () => {
  const { replica, did, answers } = begin();
  await replica.start();
  answers.renew = () => {
    vi.setSystemTime(Date.now() + LEASE_MS);
    return Promise.resolve(NOTHING);
  };
  replica.soon();
  await vi.advanceTimersByTimeAsync(100);
  expect(did).toContain('let go');
});

test('runs of nobody are taken as far as there is room, at once when somebody says so, and none after retiring', async () => {
  const { replica, did, answers } = begin();
  await replica.start();
  answers.renew = () => Promise.resolve({ ...NOTHING, work: true });
  answers.nobodys = ['a', 'b', 'c'];
  answers.room = 2;
  replica.work();
  await vi.advanceTimersByTimeAsync(20);
  expect(did).toContain('take up a,b');
  answers.room = 1;
  replica.room();
  await vi.advanceTimersByTimeAsync(20);
  expect(did).toContain('take up c');
  await replica.retire();
  answers.nobodys = ['d'];
  await vi.advanceTimersByTimeAsync(LEASE_MS);
  expect(answers.nobodys).toEqual(['d']);
  await replica.handOver();
  await replica.stop();
  expect(did.filter((what) => what !== 'cancel').slice(-2)).toEqual(['release', 'leave 1']);
});
