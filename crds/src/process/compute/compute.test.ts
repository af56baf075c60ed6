import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { type ComputeLimit, passingLimit, tooMuchProcessor } from '../../language/compute-limit.ts';
import { type Compute, createCompute, judgeSchemaIn, type Owner } from './compute.ts';
import type { PoolLimits } from './worker-pool.ts';

let compute: Compute;
const open = (limits: Partial<PoolLimits> = {}) => (compute = createCompute({ timeoutMs: 20_000, ...limits }));
afterEach(() => compute.close());

const NOBODY: Owner = { run: null, share: 'triage' };
const ofRun = (run: string): Owner => ({ run, share: 'triage' });

/** Of some thousand instructions, which take milliseconds to compile. */
const HEAVY_PATTERN = 'a{900}'.repeat(10);
const LONG = 'ž'.repeat(1_000_000);
/** The work of one step is not counted: each comparison reads both texts. */
const UNCOUNTED = {
  kind: 'expression' as const,
  source: 'l.all(a, l.all(b, s <= t))',
  values: { l: Array.from({ length: 220 }, (_, index) => index), s: LONG, t: `${LONG}x` },
};

test('the event loop goes on while a thread computes, and what takes too long ends with its thread', async () => {
  open({ timeoutMs: 3000 });
  const stopped = compute.inThread(UNCOUNTED, NOBODY);
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 5);
  expect(await stopped).toEqual({
    ok: false,
    reason: 'compute_limit',
    msg: 'it took longer than 3000 ms (security.compute_timeout_ms)',
  });
  clearInterval(counting);
  expect(turns).toBeGreaterThan(5);
  expect(await compute.inThread({ kind: 'expression', source: '1 + 1', values: {} }, NOBODY)).toEqual({
    ok: true,
    value: 2,
  });
});

test('what takes too much memory ends with its thread, and the service goes on', async () => {
  open({ memoryMib: 16 });
  const wide = Array.from({ length: 400_000 }, (_, index) => [index]);
  const result = await compute.inThread(
    { kind: 'expression', source: 'l.map(a, [a, a, a])', values: { l: wide } },
    NOBODY,
  );
  expect(result).toMatchObject({ ok: false, reason: 'compute_limit', msg: 'it took more than 16 MiB of memory' });
  expect(await compute.inThread({ kind: 'expression', source: 'true', values: {} }, NOBODY)).toEqual({
    ok: true,
    value: true,
  });
});

test('two tasks that ended their thread bar their owner, and nobody else', async () => {
  open({ timeoutMs: 100 });
  const results = await Promise.all(Array.from({ length: 4 }, () => compute.inThread(UNCOUNTED, ofRun('run-1'))));
  expect(results.map((result) => ('msg' in result ? result.msg : ''))).toEqual([
    expect.stringContaining('longer than'),
    expect.stringContaining('longer than'),
    expect.stringContaining('two evaluations before it'),
    expect.stringContaining('two evaluations before it'),
  ]);
  expect([compute.isBarred('run-1'), compute.isBarred('run-2')]).toEqual([true, false]);
  const other = { kind: 'expression' as const, source: '1', values: {} };
  expect(await compute.inThread(other, ofRun('run-2'))).toEqual({ ok: true, value: 1 });
});

test('no more wait than the bound', async () => {
  open({ threads: 1, maxWaiting: 1 });
  const tasks = Array.from({ length: 4 }, (_, index) =>
    compute.inThread({ kind: 'expression', source: `${index}`, values: {} }, NOBODY),
  );
  expect((await Promise.all(tasks)).map(({ ok }) => ok)).toEqual([true, true, false, false]);
});

const QUICK = { kind: 'expression' as const, source: '1', values: {} };

/** The names of who got an answer, in their order. */
function inOrder(asked: readonly Owner[], evaluate: (owner: Owner) => Promise<unknown>): Promise<string[]> {
  const order: string[] = [];
  return Promise.all(asked.map((owner) => evaluate(owner).then(() => order.push(owner.share)))).then(() => order);
}
const times = (count: number, share: string): Owner[] =>
  Array.from({ length: count }, (_, index) => ({ run: `${share}-${index}`, share }));

test('a pipeline whose slow evaluations fill the queue delays those of another by one turn', async () => {
  open({ threads: 1, timeoutMs: 100, maxWaiting: 16 });
  const order = await inOrder([...times(12, 'hostile'), ...times(3, 'checkout')], ({ run, share }) =>
    compute.inThread(share === 'hostile' ? UNCOUNTED : QUICK, { run, share }),
  );
  const refused = 12 - 1 - 4;
  expect(order.slice(refused).slice(0, 6)).toEqual([
    'hostile',
    'checkout',
    'hostile',
    'checkout',
    'hostile',
    'checkout',
  ]);
});

test('many pipelines of one namespace share the turns of one', async () => {
  open({ threads: 1, groupOf: (share) => share.split('/')[0] as string });
  const greedy = ['a', 'b', 'c', 'd', 'e'].flatMap((name) => times(1, `greedy/${name}`));
  const order = await inOrder([...greedy, ...times(2, 'shop/checkout')], (owner) => compute.inThread(QUICK, owner));
  expect(order.map((share) => share.split('/')[0])).toEqual([
    'greedy',
    'shop',
    'greedy',
    'shop',
    'greedy',
    'greedy',
    'greedy',
  ]);
});

test('runs of pipelines that are gone have their part of the turns of the namespace they began in', async () => {
  open({ threads: 1, groupOf: () => '' });
  const greedy = ['a', 'b', 'c'].flatMap((share) => times(1, share)).map((owner) => ({ ...owner, group: 'greedy' }));
  const order = await inOrder([...greedy, ...times(2, 'checkout')], (owner) => compute.inThread(QUICK, owner));
  expect(order).toEqual(['a', 'checkout', 'b', 'checkout', 'c']);
});

test('a full queue refuses the newest of the pipeline that waits most, and says why', async () => {
  open({ threads: 1, maxWaiting: 6, maxPerShare: 4 });
  const refused: string[] = [];
  const ask = async (owner: Owner) => {
    const result = await compute.inThread(QUICK, owner);
    if ('msg' in result) refused.push(`${owner.run}: ${result.reason}, ${result.msg}`);
  };
  // One is computed, four wait, one is over the bound of its pipeline; then three others find room for two.
  await Promise.all([...times(6, 'hostile'), ...times(1, 'a'), ...times(1, 'b'), ...times(1, 'c')].map(ask));
  const why =
    'compute_limit, too many evaluations wait for a thread, most of them of the same pipeline, agent or caller';
  expect(refused).toEqual([`hostile-5: ${why}`, `hostile-4: ${why}`]);
});

test('a closed pool refuses, and settles what it computes', async () => {
  open();
  const left = compute.inThread(UNCOUNTED, NOBODY);
  await compute.close();
  expect(await left).toMatchObject({ reason: 'compute_limit' });
  expect(await compute.inThread(UNCOUNTED, NOBODY)).toMatchObject({ reason: 'compute_limit' });
});

const SMALL = { type: 'object', properties: { action: { enum: ['wait', 'restart'] } } };
/** References are compiled in a thread only. */
const UNIQUE = {
  type: 'object',
  properties: { list: { $ref: '#/$defs/unique' } },
  $defs: { unique: { uniqueItems: true } },
};

test('a small schema is checked in place and a large one in a thread, with the same result', async () => {
  open();
  expect(await compute.validate(SMALL, { action: 'wait' }, NOBODY)).toEqual({ ok: true });
  expect(await compute.validate(SMALL, { action: 'dance' }, NOBODY)).toMatchObject({
    ok: false,
    errors: [{ loc: ['action'] }],
  });
  expect(await compute.validate(UNIQUE, { list: [1, 2] }, NOBODY)).toEqual({ ok: true });
  expect(await compute.validate(UNIQUE, { list: [1, 1] }, NOBODY)).toMatchObject({
    ok: false,
    errors: [{ loc: ['list'] }],
  });
  expect(await compute.validate(SMALL, { action: 'wait', more: 'x'.repeat(100_000) }, NOBODY)).toEqual({ ok: true });
  expect(await compute.checkSchema(UNIQUE, 'triage')).toEqual({ ok: true });
  expect(await compute.checkSchema({ ...UNIQUE, type: 'thing' }, 'triage')).toMatchObject({ ok: false });
  expect(await compute.checkSchema({ $ref: '#' }, 'triage')).toMatchObject({
    ok: false,
    msg: expect.stringContaining('itself'),
  });
});

test('a schema that takes too much of the processor in its thread, or gets no thread, is compiled nowhere else', async () => {
  open();
  const judged = (why: ComputeLimit) => judgeSchemaIn({ inThread: async () => why }, 0)({ $ref: '#' }, 'triage');
  expect(await judged(tooMuchProcessor(1000))).toEqual({
    ok: false,
    msg: expect.stringContaining('more than 1000 ms of the processor'),
  });
  expect(await judged(passingLimit('the service stops'))).toMatchObject({
    ok: false,
    passing: true,
    msg: 'JSON Schema was not checked: the service stops; try again',
  });
  expect(await judgeSchemaIn(compute, 0)(UNIQUE, 'triage')).toEqual({ ok: true });
});

test('a schema that the clock, and not the processor, delays is judged all the same', async () => {
  open({ timeoutMs: 0.1 });
  expect(await compute.checkSchema(UNIQUE, 'triage')).toEqual({ ok: true });
  expect(await judgeSchemaIn(compute, 0.1)(UNIQUE, 'triage')).toEqual({ ok: true });
});

test('only what is large starts a thread', async () => {
  // A thread would not be done in no time.
  open({ timeoutMs: 0 });
  expect(compute.checkSchema({ ...UNIQUE, description: 'x'.repeat(70_000) }, 'triage')).toEqual({
    ok: false,
    msg: 'JSON Schema is larger than 64 KiB',
  });
  expect(await compute.validate(SMALL, { action: 'wait' }, NOBODY)).toEqual({ ok: true });
  expect(compute.matches('^Check(out)?', 'Checkout', 'triage')).toBe(true);
  expect(await compute.validate(UNIQUE, {}, NOBODY)).toMatchObject({ reason: 'compute_limit' });
  expect(await compute.matches(HEAVY_PATTERN, 'Checkout', 'triage')).toBe(null);
  const none = { items: { anyOf: [...Array.from({ length: 400 }, () => false), {}] } };
  expect(await compute.validate(none, [1], NOBODY)).toEqual({ ok: true });
  expect(await compute.validate(none, Array(30_000).fill(1), NOBODY)).toMatchObject({ reason: 'compute_limit' });
});

test('a task whose values cannot be copied is refused, and the next one gets the thread', async () => {
  open({ threads: 1 });
  const copied = { kind: 'expression', source: '1', values: { a: () => 1 } } as const;
  expect(await compute.inThread(QUICK, NOBODY)).toEqual({ ok: true, value: 1 });
  const results = await Promise.all([compute.inThread(copied, NOBODY), compute.inThread(QUICK, NOBODY)]);
  expect(results).toMatchObject([{ msg: 'its values cannot be copied to a thread' }, { ok: true, value: 1 }]);
});

test('the errors of one answer are not in the memory that the next may take', async () => {
  open({ threads: 1, memoryMib: 96 });
  const none = { additionalProperties: { anyOf: Array.from({ length: 400 }, () => false) } };
  const answer = { ['~/'.repeat(700)]: 1 };
  for (const title of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const schema = { title, $ref: '#/$defs/none', $defs: { none } };
    expect(await compute.validate(schema, answer, NOBODY)).toHaveProperty('errors');
  }
});

test('a pattern that takes long to compile, and a long text, are matched in a thread', async () => {
  open();
  expect(await compute.matches(HEAVY_PATTERN, 'aaa', 'triage')).toBe(false);
  const words = '[a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+ [a-z]+!';
  expect(compute.matches(words, 'x'.repeat(16_000), 'triage')).toBeInstanceOf(Promise);
  expect(await compute.matches(words, `${'x'.repeat(16_000)} b c d e f g h i j!`, 'triage')).toBe(true);
});

const threadsOf = () =>
  readdirSync('/proc/self/task').filter(
    (id) => readFileSync(`/proc/self/task/${id}/comm`, 'utf8') === 'WorkerThread\n',
  );

test('a thread without work ends, and the next task starts another', async () => {
  open({ idleMs: 500 });
  const before = threadsOf().length;
  for (let round = 0; round < 2; round++) {
    expect(await compute.inThread({ kind: 'expression', source: '1', values: {} }, NOBODY)).toEqual({
      ok: true,
      value: 1,
    });
    expect(threadsOf()).toHaveLength(before + 1);
    await expect.poll(() => threadsOf().length).toBe(before);
  }
});
