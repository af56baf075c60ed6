import { createCompute } from '@signalbox/crds/process/compute';
import { compileMatch, resolveSet } from '@signalbox/crds';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LoadedPipeline } from '../definitions/snapshot.ts';
import { createCapacity } from '../runs/run/capacity.ts';
import { newId } from '../runs/state/ids.ts';
import { compileKeyOf, createConcurrencyGroups, concurrencyGroupOf } from '../runs/run/concurrency-groups.ts';
import type { TriggerContext } from '../runs/state/model.ts';
import type { NewRun } from '../runs/state/new-run.ts';
import { createTemplates } from '../runs/prompt/templates.ts';
import type { Database, Tx } from '../store/db/database.ts';
import { newTestDatabase, type TestDatabase } from '../store/fixtures/test-database.ts';
import { listRuns } from '../store/tables/list-runs.ts';
import { findCovering, findDuplicate, keepCoverage } from '../store/tables/duplicates.ts';
import { endRun, insertRun, keepDefinition } from '../store/tables/run-writes.ts';
import { intake, roomFor } from './intake.ts';
import type { IntakeDeps } from './intake-deps.ts';
import type { Verdict } from './model.ts';

let site: TestDatabase;
let database: Database;
let clock: number;
let begun: { run: NewRun; state: string }[];

beforeEach(async () => {
  site = await newTestDatabase();
  clock = 1_000_000;
  begun = [];
  database = await site.open({ now: () => clock });
});
afterEach(async () => {
  await database.close();
  await site.remove();
});

function deps(
  over: { maxRuns?: number; maxQueued?: number; maxInGroups?: number; dedup?: boolean } = {},
): IntakeDeps<Tx> {
  const templates = createTemplates({ sandbox: true, compute: createCompute({ timeoutMs: 1000 }) });
  return {
    write: (job) => database.write(job),
    findDuplicate,
    findCovering,
    keepCoverage,
    insertRun,
    keepDefinition: (tx, { hash, name, config }) =>
      keepDefinition(tx, { hash, kind: 'Pipeline', name, body: JSON.stringify(config), stored_at: 1 }),
    definitionKept: () => undefined,
    capacity: createCapacity(over.maxRuns ?? 1000),
    concurrencyGroups: createConcurrencyGroups(),
    compileKey: (of) => compileKeyOf(templates, of),
    concurrencyGroupOf: ({ pipeline, context, team }) =>
      concurrencyGroupOf(templates, { pipeline: pipeline.config, context, team }),
    maxQueued: over.maxQueued ?? 0,
    maxInGroups: over.maxInGroups ?? 100,
    dedup: { enabled: over.dedup ?? true, windowSeconds: 300 },
    now: () => clock,
    newId,
    begin: (run, state) => begun.push({ run, state }),
  };
}

function pipeline(more = ''): LoadedPipeline {
  const text = `name: p\n${more}\nsteps: [{name: one, executor: gateway, agent: a, prompt_template: hi}]`;
  const set = resolveSet({ pipelines: [{ file: 'p.yaml', text }], steps: [] });
  const [found] = set.pipelines;
  if (!found) throw new Error(JSON.stringify(set.problems));
  return { ...found, match: compileMatch({}) };
}

const context = (fingerprint: string | null, labels: Record<string, string> = {}): TriggerContext => ({
  source: 'generic',
  pipeline: 'p',
  severity: null,
  labels,
  annotations: {},
  summary: null,
  fingerprint,
  metadata: {},
  raw: {},
  receivedAt: 0,
});
const one = (fingerprint: string | null, in_ = pipeline()) => [
  { pipeline: in_, context: context(fingerprint), team: null },
];
const stored = async () => (await listRuns(database.db, {}, { limit: 200, offset: 0 })).total;
const end = (id: string) =>
  database.write((tx) =>
    endRun(tx, {
      id,
      status: 'completed',
      completed_at: clock,
      error_step: null,
      error_message: null,
      trust: null,
      threshold: null,
      input_tokens: 0,
      output_tokens: 0,
      cost: null,
      unpriced_steps: 0,
      warning_count: 0,
    }),
  );

test('of 200 deliveries of one key at once, one is accepted and the others name its run', async () => {
  const shared = deps();
  const verdicts = (await Promise.all(Array.from({ length: 200 }, () => intake(shared, one('k'))))).flat();
  const accepted = verdicts.filter(({ status }) => status === 'accepted');
  expect(accepted).toHaveLength(1);
  const ids = new Set(verdicts.map((verdict) => ('runId' in verdict ? verdict.runId : null)));
  expect([...ids]).toEqual([begun[0]?.run.id]);
  expect(await stored()).toBe(1);
});

test('a running run suppresses for as long as it runs, an ended one for its window', async () => {
  const shared = deps();
  const [first] = await intake(shared, one('k'));
  clock += 400_000;
  expect((await intake(shared, one('k')))[0]?.status).toBe('deduplicated');
  await end(first && 'runId' in first ? first.runId : '');
  expect((await intake(shared, one('k')))[0]?.status).toBe('accepted');
});

test('within the window an ended run suppresses too, and the reason says how it ended', async () => {
  const shared = deps();
  const [first] = await intake(shared, one('k'));
  await end(first && 'runId' in first ? first.runId : '');
  clock += 299_000;
  expect((await intake(shared, one('k')))[0]).toMatchObject({
    status: 'deduplicated',
    reason: expect.stringContaining('completed'),
  });
});

test('an ended run of before the clock was set back by hours suppresses no repeat', async () => {
  const shared = deps();
  const [first] = await intake(shared, one('k'));
  await end(first && 'runId' in first ? first.runId : '');
  clock -= 10 * 3_600_000;
  expect((await intake(shared, one('k')))[0]?.status).toBe('accepted');
});

test.each([
  ['the pipeline opts out', 'trigger: {dedup: {enabled: false}}', true, 'k'],
  ['the service has it off', '', false, 'k'],
  ['there is no fingerprint', '', true, null],
])('nothing is suppressed when %s', async (_, more, dedup, key) => {
  const shared = deps({ dedup });
  await intake(shared, one(key, pipeline(more)));
  expect((await intake(shared, one(key, pipeline(more))))[0]?.status).toBe('accepted');
});

test("a window of the pipeline wins over the service's", async () => {
  const shared = deps();
  const short = pipeline('trigger: {dedup: {window_seconds: 10}}');
  const [first] = await intake(shared, one('k', short));
  await end(first && 'runId' in first ? first.runId : '');
  clock += 11_000;
  expect((await intake(shared, one('k', short)))[0]?.status).toBe('accepted');
});

test('a run keeps the stage that its pipeline had when it was triggered', async () => {
  const shared = deps();
  await intake(shared, one('a', pipeline('stage: testing')));
  await intake(shared, one('b', pipeline('stage: production')));
  const { runs } = await listRuns(database.db, {}, { limit: 50, offset: 0 });
  expect(runs.map(({ fingerprint, stage }) => [fingerprint, stage])).toEqual([
    ['b', 'production'],
    ['a', 'testing'],
  ]);
});

test('at capacity a new delivery is refused, and a repeat is still a repeat', async () => {
  const shared = deps({ maxRuns: 1 });
  await intake(shared, one('k'));
  expect((await intake(shared, one('other')))[0]).toMatchObject({
    status: 'at_capacity',
    activeRuns: 1,
    maxConcurrentRuns: 1,
  });
  expect((await intake(shared, one('k')))[0]?.status).toBe('deduplicated');
  expect(await stored()).toBe(1);
});

test('a delivery of several alerts gets in as a whole or not at all', async () => {
  const shared = deps({ maxRuns: 2 });
  const three = [one('a'), one('b'), one('c')].flat();
  expect((await intake(shared, three)).map(({ status }) => status)).toEqual([
    'at_capacity',
    'at_capacity',
    'at_capacity',
  ]);
  expect(shared.capacity.active()).toBe(0);
  expect((await intake(shared, three.slice(0, 2))).map(({ status }) => status)).toEqual(['accepted', 'accepted']);
});

/** What a refused delivery says, and is told in its 429. */
const messageOf = ([verdict]: Verdict[]) => (verdict?.status === 'at_capacity' ? verdict.message : verdict?.status);

test('a refusal says what is missing: slots, more slots than there are, places to wait, or a place in the pipeline', async () => {
  const shared = deps({ maxRuns: 2 });
  const three = [one('a'), one('b'), one('c')].flat();
  expect(messageOf(await intake(shared, three))).toMatch(
    /needs 3 slots at once and the service has 2: raise .*max_runs/,
  );
  await intake(shared, one('first'));
  expect(messageOf(await intake(shared, three.slice(0, 2)))).toMatch(/needs 2 slots at once and 1 of 2 are free/);
  await intake(shared, one('second'));
  expect(messageOf(await intake(shared, one('third')))).toBe(
    'every slot is taken (concurrency.max_runs is 2); try again later',
  );

  const queueing = deps({ maxRuns: 1, maxQueued: 1 });
  const atOnce = await Promise.all(['runs', 'waits', 'late'].map((key) => intake(queueing, one(key))));
  expect(atOnce.map(messageOf).at(-1)).toMatch(/every slot is taken .*, and too many runs wait already/);

  const concurrencyGroup = pipeline('concurrency: {limit: 1, on_limit: reject}');
  const free = deps();
  await intake(free, one('in-lane', concurrencyGroup));
  expect(messageOf(await intake(free, one('next', concurrencyGroup)))).toMatch(
    /pipeline "p" lets 1 of its runs run at a time/,
  );

  const waiting = deps({ maxInGroups: 0 });
  const patient = pipeline('concurrency: {limit: 1, on_limit: queue}');
  await intake(waiting, one('patient', patient));
  expect(messageOf(await intake(waiting, one('after', patient)))).toMatch(
    /too many runs wait .* in their own pipelines/,
  );
});

test('twins within one delivery are one run', async () => {
  const verdicts = await intake(deps(), [...one('a'), ...one('a')]);
  expect(verdicts.map(({ status }) => status)).toEqual(['accepted', 'deduplicated']);
});

test('with a queue a full service stores and queues, up to its bound', async () => {
  const shared = deps({ maxRuns: 1, maxQueued: 1 });
  await intake(shared, one('a'));
  expect((await intake(shared, one('b')))[0]).toMatchObject({ status: 'queued', position: 1 });
  expect(begun.map(({ state }) => state)).toEqual(['running', 'queued']);
});

test('when nothing could be stored the slots are free again', async () => {
  const shared = deps({ maxRuns: 1 });
  const broken = { ...shared, insertRun: () => Promise.reject(new Error('disk')) };
  await expect(intake(broken, one('a'))).rejects.toThrow('disk');
  expect(shared.capacity.active()).toBe(0);
  expect(begun).toEqual([]);
});

test.each([
  ['queue', 'queued'],
  ['reject', 'at_capacity'],
  ['cancel_running', 'queued'],
])('a full concurrencyGroup with on_limit: %s', async (rule, status) => {
  const shared = deps();
  const limited = pipeline(`concurrency: {limit: 1, key: "{{labels.service}}", on_limit: ${rule}}`);
  const deliver = (service: string) =>
    intake(shared, [{ pipeline: limited, context: context(null, { service }), team: null }]);
  expect((await deliver('cart'))[0]?.status).toBe('accepted');
  expect((await deliver('cart'))[0]?.status).toBe(status);
  expect((await deliver('shop'))[0]?.status).toBe('accepted');
  expect(shared.capacity.active()).toBe(2);
});

test('of what comes at the same moment no more waits than may wait', async () => {
  const shared = deps({ maxRuns: 1, maxQueued: 3 });
  const verdicts = (await Promise.all(Array.from({ length: 20 }, (_, at) => intake(shared, one(`k${at}`))))).flat();
  const count = (wanted: string) => verdicts.filter(({ status }) => status === wanted).length;
  expect([count('accepted'), count('queued'), count('at_capacity')]).toEqual([1, 3, 16]);
  expect(shared.capacity.announced()).toBe(0);
});

test('the queue of a concurrencyGroup is bounded too', async () => {
  const shared = deps({ maxInGroups: 2 });
  const limited = pipeline('concurrency: {limit: 1, on_limit: queue}');
  const verdicts = (
    await Promise.all(Array.from({ length: 10 }, (_, at) => intake(shared, one(`k${at}`, limited))))
  ).flat();
  const count = (wanted: string) => verdicts.filter(({ status }) => status === wanted).length;
  expect([count('accepted'), count('queued'), count('at_capacity')]).toEqual([1, 2, 7]);
  expect(await stored()).toBe(3);
});

test('a twin of what was refused is refused with it and names no run that is not there', async () => {
  const shared = deps({ maxRuns: 1 });
  await intake(shared, one('first'));
  const verdicts = await intake(shared, [...one('a'), ...one('a')]);
  expect(verdicts.map(({ status }) => status)).toEqual(['at_capacity', 'at_capacity']);
});

test.each<[string, Parameters<typeof deps>[0], string, string[]]>([
  ['a free slot', { maxRuns: 2 }, '', ['accepted']],
  ['no slot and no queue', { maxRuns: 1 }, '', ['at_capacity']],
  ['no slot and a queue', { maxRuns: 1, maxQueued: 1 }, '', ['queued']],
  ['a full concurrencyGroup that queues', { maxRuns: 2 }, 'concurrency: {limit: 1, on_limit: queue}', ['queued']],
  [
    'a full concurrencyGroup that rejects',
    { maxRuns: 2 },
    'concurrency: {limit: 1, on_limit: reject}',
    ['at_capacity'],
  ],
])('a dry run says what a delivery becomes, and so it does: %s', async (_, limits, more, expected) => {
  const shared = deps(limits);
  const limited = pipeline(more);
  await intake(shared, one('first', limited));
  expect([roomFor(shared, one('next', limited)[0]!)]).toEqual(expected);
  expect((await intake(shared, one('next', limited))).map(({ status }) => status)).toEqual(expected);
});

test('fields are cut after the fingerprint saw them, and lists show 300 characters of a summary', async () => {
  const long = { ...context('k'), summary: 'x'.repeat(20_000), labels: { dump: 'y'.repeat(9000) } };
  const request = { pipeline: pipeline(), context: long, team: null };
  const [first] = await intake(deps(), [request]);
  const [again] = await intake(deps(), [request]);
  expect([first?.status, again?.status]).toEqual(['accepted', 'deduplicated']);
  expect(begun[0]?.run.context).toMatchObject({
    summary: expect.stringMatching(/^x{8000,}… \[cut from 20000 bytes\]$/),
    labels: { dump: expect.stringMatching(/^y{4000,}… \[cut from 9000 bytes\]$/) },
  });
  const { runs } = await listRuns(database.db, {}, { limit: 1, offset: 0 });
  expect(runs[0]?.summary).toBe(`${'x'.repeat(299)}…`);
});

test('the runs that one delivery starts count for the memory that is left', async () => {
  const isFull: IntakeDeps<Tx>['isFull'] = (_, { all }) => all > 100_000;
  const large = (key: string) => ({
    pipeline: pipeline(),
    context: context(key, { log: 'x'.repeat(4000) }),
    team: null,
  });
  const asked = ['a', 'b', 'c', 'd', 'e', 'f'].map(large);
  const verdicts = await intake({ ...deps(), isFull }, asked);
  expect(verdicts.map(({ status }) => status)).toEqual([...Array(4).fill('accepted'), 'at_capacity', 'at_capacity']);
});

test('others have their turns while the keys of the many pipelines of a delivery are compiled', async () => {
  const requests = Array.from({ length: 200 }, (_, at) =>
    one(`k${at}`, pipeline(`concurrency: {limit: 1, key: "${'{{a}}'.repeat(200)}${at}"}`)),
  );
  let turns = 0;
  const tick = () => {
    turns += 1;
    timer = setImmediate(tick);
  };
  let timer = setImmediate(tick);
  await intake(deps(), requests.flat());
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(20);
});
