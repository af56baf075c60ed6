import { expect, test } from 'vitest';
import { createCapacity } from './capacity.ts';
import { CONTEXT } from '../fixtures/engine.ts';
import { createTemplates } from '../prompt/templates.ts';
import type { ActiveRun } from '../state/active-run.ts';
import { concurrencyGroupOf, createConcurrencyGroups, enterConcurrencyGroup } from './concurrency-groups.ts';
import type { ConcurrencyGroup } from '../state/concurrency-group.ts';

const concurrencyGroup: ConcurrencyGroup = { key: 'p\n', limit: 1, onLimit: 'queue' };
const open = new AbortController().signal;

const log = { error: () => undefined };

test('places are given in the order of asking', async () => {
  const concurrencyGroups = createConcurrencyGroups();
  const order: string[] = [];
  for (const id of ['a', 'b', 'c']) void concurrencyGroups.take(concurrencyGroup, id, open).then(() => order.push(id));
  await Promise.resolve();
  concurrencyGroups.leave(concurrencyGroup, 'a');
  await Promise.resolve();
  concurrencyGroups.leave(concurrencyGroup, 'b');
  await Promise.resolve();
  expect(order).toEqual(['a', 'b', 'c']);
});

test('who stops waiting leaves no hole', async () => {
  const concurrencyGroups = createConcurrencyGroups();
  await concurrencyGroups.take(concurrencyGroup, 'a', open);
  const gone = new AbortController();
  const waiting = concurrencyGroups.take(concurrencyGroup, 'b', gone.signal);
  const behind = concurrencyGroups.take(concurrencyGroup, 'c', open);
  gone.abort();
  expect(await waiting).toBe(false);
  concurrencyGroups.leave(concurrencyGroup, 'a');
  expect(await behind).toBe(true);
});

test('where a limit was changed, who waits enters once there is room by its own', async () => {
  const concurrencyGroups = createConcurrencyGroups();
  const inside: string[] = [];
  const take = (id: string, limit: number) =>
    void concurrencyGroups.take({ ...concurrencyGroup, limit }, id, open).then(() => inside.push(id));
  const leave = async (id: string) => {
    concurrencyGroups.leave(concurrencyGroup, id);
    await new Promise(setImmediate);
  };
  for (const id of ['a', 'b', 'c']) take(id, 3);
  for (const id of ['d', 'e']) take(id, 1);
  for (const id of ['f', 'g', 'h']) take(id, 3);
  for (const id of ['a', 'b']) await leave(id);
  expect(inside).toEqual(['a', 'b', 'c']);
  await leave('c');
  expect(inside).toEqual(['a', 'b', 'c', 'd']);
  await leave('d');
  await leave('e');
  expect(inside.slice(4)).toEqual(['e', 'f', 'g', 'h']);
});

test('sub-runs, whose runs have begun, take no place of the queue', async () => {
  const concurrencyGroups = createConcurrencyGroups();
  const enter = (id: string, parent: ActiveRun | null) => {
    const run = { id, parent, controller: new AbortController() } as ActiveRun;
    return enterConcurrencyGroup({ concurrencyGroups, cancel: async () => undefined, log }, concurrencyGroup, run);
  };
  await enter('a', null);
  const [second, third] = [enter('b', {} as ActiveRun), enter('c', null)];
  expect(concurrencyGroups.waiting()).toBe(1);
  concurrencyGroups.leave(concurrencyGroup, 'a');
  await second;
  expect(concurrencyGroups.waiting()).toBe(1);
  concurrencyGroups.leave(concurrencyGroup, 'b');
  await third;
  expect(concurrencyGroups.waiting()).toBe(0);
});

test('a run whose older one cannot be cancelled waits for it, and the log says so', async () => {
  const concurrencyGroups = createConcurrencyGroups();
  const group = { ...concurrencyGroup, onLimit: 'cancel_running' } as const;
  expect(concurrencyGroups.tryTake(group, 'a')).toBe(true);
  const said: object[] = [];
  const joining = {
    concurrencyGroups,
    cancel: () => Promise.reject(new Error('the database is away')),
    log: { error: (fields: object) => void said.push(fields) },
  };
  const begun = { inFlight: new Map(), results: new Map() };
  const run = { id: 'b', parent: null, controller: new AbortController(), ...begun } as unknown as ActiveRun;
  const entering = enterConcurrencyGroup(joining, group, run);
  await expect.poll(() => said).toMatchObject([{ run_id: 'a', err: { message: 'the database is away' } }]);
  concurrencyGroups.leave(group, 'a');
  await entering;
});

test('a run that finds a place cancels none of those that have theirs, nor does one that goes on', async () => {
  const concurrencyGroups = createConcurrencyGroups();
  const group = { ...concurrencyGroup, limit: 2, onLimit: 'cancel_running' } as const;
  const cancelled: string[] = [];
  const cancel = async (id: string) => void cancelled.push(id);
  const enter = (id: string, begun: string[] = []) => {
    const results = new Map(begun.map((step) => [step, {}]));
    const run = { id, parent: null, controller: new AbortController(), inFlight: new Map(), results };
    return enterConcurrencyGroup({ concurrencyGroups, cancel, log }, group, run as unknown as ActiveRun);
  };
  await Promise.all([enter('a'), enter('b')]);
  const resumed = enter('c', ['ask']);
  expect(cancelled).toEqual([]);
  const newest = enter('d');
  expect(cancelled).toEqual(['a']);
  concurrencyGroups.leave(group, 'a');
  concurrencyGroups.leave(group, 'b');
  await Promise.all([resumed, newest]);
});

test('leaving without a place changes nothing', () => {
  const concurrencyGroups = createConcurrencyGroups();
  expect(concurrencyGroups.tryTake(concurrencyGroup, 'a')).toBe(true);
  concurrencyGroups.leave(concurrencyGroup, 'b');
  expect(concurrencyGroups.tryTake(concurrencyGroup, 'b')).toBe(false);
});

test('capacity hands a slot over to who waits, and counts right', async () => {
  const capacity = createCapacity(1);
  expect(capacity.tryTake()).toBe(true);
  const waiting = capacity.take(open);
  expect([capacity.waiting(), capacity.tryTake()]).toEqual([1, false]);
  capacity.release();
  await waiting;
  expect([capacity.active(), capacity.waiting()]).toEqual([1, 0]);
  capacity.release();
  expect(capacity.active()).toBe(0);
});

const templates = createTemplates({
  sandbox: true,
  compute: { inThread: () => Promise.reject(new Error('no thread was expected')), isBarred: () => false },
});
const LABELS = Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`label${at}`, 'x'.repeat(100)]));

test.each([
  ['{{labels.label1}}', `p\n${'x'.repeat(100)}`],
  ['{{#each labels}}{{this}}{{/each}}', expect.stringMatching(/^p\n[0-9a-f]{64}$/)],
  ['{{#each labels}}{{#each ../labels}}{{/each}}{{/each}}', 'p\n'],
  [`{{#each labels}}${'€'.repeat(900)}{{/each}}`, 'p\n'],
])(
  'the key %.60s, which is made of each of a thousand alerts at once, takes little work and little room',
  (key, made) => {
    const pipeline = { name: 'p', vars: {}, concurrency: { limit: 1, key, on_limit: 'queue' } } as never;
    const group = concurrencyGroupOf(templates, { pipeline, context: { ...CONTEXT, labels: LABELS }, team: null });
    expect(group?.key).toEqual(made);
  },
);
