import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { type Compute, createCompute } from './compute.ts';
import type { PoolLimits } from './worker-pool.ts';

let compute: Compute;
const open = (limits: Partial<PoolLimits> = {}) => (compute = createCompute({ timeoutMs: 20_000, ...limits }));
afterEach(() => compute.close());

/** Of some thousand instructions, which take milliseconds to compile. */
const HEAVY_PATTERN = 'a{900}'.repeat(10);
/** The work of one step is not counted: each `size` reads all keys. */
const UNCOUNTED = {
  kind: 'expression' as const,
  source: 'l.all(a, l.all(b, size(m) > 0))',
  values: {
    l: Array.from({ length: 220 }, (_, index) => index),
    m: Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index])),
  },
};

test('the event loop goes on while a thread computes, and what takes too long ends with its thread', async () => {
  open({ timeoutMs: 3000 });
  const stopped = compute.inThread(UNCOUNTED);
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 5);
  expect(await stopped).toEqual({
    ok: false,
    reason: 'compute_limit',
    msg: 'it took longer than 3000 ms (security.compute_timeout_ms)',
  });
  clearInterval(counting);
  expect(turns).toBeGreaterThan(5);
  expect(await compute.inThread({ kind: 'expression', source: '1 + 1', values: {} })).toEqual({ ok: true, value: 2 });
});

test('what takes too much memory ends with its thread, and the service goes on', async () => {
  open({ memoryMib: 16 });
  const wide = Array.from({ length: 400_000 }, (_, index) => [index]);
  const result = await compute.inThread({ kind: 'expression', source: 'l.map(a, [a, a, a])', values: { l: wide } });
  expect(result).toMatchObject({ ok: false, reason: 'compute_limit', msg: 'it took more than 16 MiB of memory' });
  expect(await compute.inThread({ kind: 'expression', source: 'true', values: {} })).toEqual({ ok: true, value: true });
});

test('two tasks that ended their thread bar their owner, and nobody else', async () => {
  open({ timeoutMs: 100 });
  const results = await Promise.all(Array.from({ length: 4 }, () => compute.inThread(UNCOUNTED, 'run-1')));
  expect(results.map((result) => ('msg' in result ? result.msg : ''))).toEqual([
    expect.stringContaining('longer than'),
    expect.stringContaining('longer than'),
    expect.stringContaining('two evaluations before it'),
    expect.stringContaining('two evaluations before it'),
  ]);
  expect([compute.isBarred('run-1'), compute.isBarred('run-2')]).toEqual([true, false]);
  const other = { kind: 'expression' as const, source: '1', values: {} };
  expect(await compute.inThread(other, 'run-2')).toEqual({ ok: true, value: 1 });
});

test('no more wait than the bound', async () => {
  open({ threads: 1, maxWaiting: 1 });
  const tasks = Array.from({ length: 4 }, (_, index) =>
    compute.inThread({ kind: 'expression', source: `${index}`, values: {} }),
  );
  expect((await Promise.all(tasks)).map(({ ok }) => ok)).toEqual([true, true, false, false]);
});

test('a closed pool refuses, and settles what it computes', async () => {
  open();
  const left = compute.inThread(UNCOUNTED);
  await compute.close();
  expect(await left).toMatchObject({ reason: 'compute_limit' });
  expect(await compute.inThread(UNCOUNTED)).toMatchObject({ reason: 'compute_limit' });
});

const SMALL = { type: 'object', properties: { action: { enum: ['wait', 'restart'] } } };
const UNIQUE = { type: 'object', properties: { list: { uniqueItems: true } } };

test('a small schema is checked in place and a large one in a thread, with the same result', async () => {
  open();
  expect(await compute.validate(SMALL, { action: 'wait' })).toEqual({ ok: true });
  expect(await compute.validate(SMALL, { action: 'dance' })).toMatchObject({
    ok: false,
    errors: [{ loc: ['action'] }],
  });
  expect(await compute.validate(UNIQUE, { list: [1, 2] })).toEqual({ ok: true });
  expect(await compute.validate(UNIQUE, { list: [1, 1] })).toMatchObject({ ok: false, errors: [{ loc: ['list'] }] });
  expect(await compute.validate(SMALL, { action: 'wait', more: 'x'.repeat(100_000) })).toEqual({ ok: true });
  expect(await compute.checkSchema(UNIQUE)).toEqual({ ok: true });
  expect(await compute.checkSchema({ ...UNIQUE, type: 'thing' })).toMatchObject({ ok: false });
  expect(await compute.checkSchema({ $ref: '#' })).toMatchObject({ ok: false, msg: expect.stringContaining('itself') });
});

test('only what is large starts a thread', async () => {
  // A thread would not be done in no time.
  open({ timeoutMs: 0 });
  expect(await compute.validate(SMALL, { action: 'wait' })).toEqual({ ok: true });
  expect(compute.matches('^Check(out)?', 'Checkout')).toBe(true);
  expect(await compute.validate(UNIQUE, {})).toMatchObject({ reason: 'compute_limit' });
  expect(await compute.matches(HEAVY_PATTERN, 'Checkout')).toBe(null);
});

test('a pattern that takes long to compile, and a long text, are matched in a thread', async () => {
  open();
  expect(await compute.matches(HEAVY_PATTERN, 'aaa')).toBe(false);
  const words = '[a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+!';
  expect(compute.matches(words, 'x'.repeat(16_000))).toBeInstanceOf(Promise);
  expect(await compute.matches(words, `${'x'.repeat(16_000)} b c d e f g h i j!`)).toBe(true);
});

const threadsOf = () =>
  readdirSync('/proc/self/task').filter(
    (id) => readFileSync(`/proc/self/task/${id}/comm`, 'utf8') === 'WorkerThread\n',
  );

test('a thread without work ends, and the next task starts another', async () => {
  open({ idleMs: 500 });
  const before = threadsOf().length;
  for (let round = 0; round < 2; round++) {
    expect(await compute.inThread({ kind: 'expression', source: '1', values: {} })).toEqual({ ok: true, value: 1 });
    expect(threadsOf()).toHaveLength(before + 1);
    await expect.poll(() => threadsOf().length).toBe(before);
  }
});
