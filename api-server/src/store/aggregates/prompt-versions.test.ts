import { promptHash } from '@signalbox/crds';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { NOW, openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import type { VersionUse } from '../../versions/uses.ts';
import { markRun } from '../tables/feedback.ts';
import type { Tx } from '../db/database.ts';
import { keepEarlierPrompts } from '../tables/prompt-templates.ts';
import { labelledCounts } from './calibration.ts';
import { knownPrompts, promptUses, withTemplates } from './prompt-versions.ts';
import { closeDays } from './daily/close-days.ts';
import { pruneRuns } from '../tables/prune.ts';
import { keepDefinition } from '../tables/run-writes.ts';
import { storeUses } from '../tables/versions/version-uses.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const TEMPLATE = 'Look at {{summary}}\nand say "\0" or 🦉';
const HASH = promptHash(TEMPLATE);
const body = (template: string) =>
  JSON.stringify({ steps: [{ name: 'look', executor: 'gateway', agent: 'a', prompt_template: template }] });
const definition = (template = TEMPLATE, hash = 'd1') => ({
  hash,
  kind: 'Pipeline',
  name: 'p',
  body: body(template),
  stored_at: NOW,
});
const keep = (template?: string, hash?: string) =>
  store.database.write((tx) => keepDefinition(tx, definition(template, hash)));
const used = (over: Partial<VersionUse>): VersionUse => ({
  step_name: 'look',
  prompt_hash: HASH,
  executor: 'gateway',
  agent: 'a',
  agent_version: 'v1',
  first_seen_at: NOW,
  last_seen_at: NOW,
  ...over,
});
const read = async (stepName = 'look') => {
  const { db } = store.database;
  const prompts = await knownPrompts(db, stepName);
  return prompts && withTemplates(db, promptUses(prompts, await labelledCounts(db, stepName)));
};

test('a prompt is kept with the definition that a run began with, to the letter', async () => {
  await keep();
  await store.addStep(await store.addRun(1), 'look', { prompt_hash: HASH });
  expect(await read()).toEqual([
    {
      promptHash: HASH,
      pipelines: ['checkout'],
      template: TEMPLATE,
      firstSeenAt: NOW,
      lastSeenAt: NOW,
      runsTotal: 1,
      labelledN: 0,
    },
  ]);
});

test('prompts that never ran are no versions, and a name that never ran has no history', async () => {
  await keep();
  expect(await read()).toBeNull();
  await store.addStep(await store.addRun(1), 'person', { executor: 'human', prompt_hash: null });
  expect(await read('person')).toEqual([]);
  expect(await read('pers')).toBeNull();
});

test('executions in any stage count, branches too; those that a rerun took over do not', async () => {
  const production = await store.addRun(1);
  const testing = await store.addRun(2, { stage: 'testing' });
  await store.addStep(production, 'look/0', { prompt_hash: HASH, started_at: NOW - 5 });
  await store.addStep(production, 'look/1', { prompt_hash: HASH, started_at: NOW + 5, status: 'failed' });
  await store.addStep(testing, 'look', { prompt_hash: HASH, stage: 'testing' });
  await store.addStep(await store.addRun(3), 'look', { prompt_hash: HASH, status: 'skipped', started_at: NOW + 99 });
  await store.addStep(await store.addRun(4), 'look-again', { prompt_hash: HASH, started_at: NOW + 99 });
  for (const runId of [production, testing])
    await store.database.write((tx) =>
      markRun(tx, { runId, outcome: 'correct', notes: null, submittedAt: 1, submittedBy: 'ann' }),
    );
  expect(await read()).toMatchObject([
    { firstSeenAt: NOW - 5, lastSeenAt: NOW + 5, runsTotal: 3, labelledN: 3, template: null },
  ]);
});

test('a version stays with its text when its runs are pruned', async () => {
  await keep();
  const id = await store.addRun(1, { triggered_at: 1, completed_at: 2 });
  await store.addStep(id, 'look', { prompt_hash: HASH });
  await store.database.write((tx) => storeUses(tx, [used({})]));
  await closeDays({ database: store.database, now: NOW, signal: new AbortController().signal });
  expect(await pruneRuns(store.database, 1, NOW)).toBe(1);
  expect(await read()).toMatchObject([
    { promptHash: HASH, pipelines: [], template: TEMPLATE, runsTotal: 0, firstSeenAt: NOW },
  ]);
});

test('uses widen the time in which a version was seen, in whatever order they are told', async () => {
  const tell = (first: number, last: number) =>
    store.database.write((tx) => storeUses(tx, [used({ first_seen_at: first, last_seen_at: last })]));
  await tell(50, 60);
  await tell(40, 45);
  await tell(70, 80);
  await tell(55, 56);
  expect(await read()).toMatchObject([{ firstSeenAt: 40, lastSeenAt: 80 }]);
});

test('of many long prompts the newest have their texts, as far as these have room together', async () => {
  const run = await store.addRun(1);
  for (let at = 0; at < 40; at++) {
    const template = `${at} ${'x'.repeat(64_000)}`;
    await keep(template, `d${at}`);
    const step = { prompt_hash: promptHash(template), started_at: NOW + at };
    await store.addStep(run, `look/${at}`, step);
  }
  const versions = (await read())!;
  expect(versions.map(({ template }) => template?.slice(0, 2) ?? null)).toEqual([
    ...Array.from({ length: 32 }, (_, at) => String(39 - at).padEnd(2)),
    ...Array.from({ length: 8 }, () => null),
  ]);
});

test('prompts of earlier definitions are kept one definition at a time, with turns for others between', async () => {
  const stored = Array.from({ length: 5 }, (_, n) => definition(`edition ${n}`, `h${n}`));
  await store.database.write((tx) => tx.db.insertInto('definitions').values(stored).execute());
  const kept: number[] = [];
  let turns = 0;
  const write = async <T>(job: (tx: Tx) => Promise<T>) => {
    kept.push(turns);
    setImmediate(() => (turns += 1));
    return store.database.write(job);
  };
  await keepEarlierPrompts({ ...store.database, write }, NOW);
  expect(new Set(kept).size).toBeGreaterThanOrEqual(5);
});

test('prompts of definitions that were stored before prompts were are kept at the next start', async () => {
  const stored = Array.from({ length: 45 }, (_, n) => definition(`edition ${n}`, `h${n}`));
  await store.database.write((tx) => tx.db.insertInto('definitions').values(stored).execute());
  await keepEarlierPrompts(store.database, NOW);
  const count = () => store.database.db.selectFrom('prompt_templates').select('hash').execute();
  expect(await count()).toHaveLength(45);
  const late = [definition('late', 'late'), { ...definition('ancient', 'ancient'), stored_at: NOW - 90_000_000 }];
  await store.database.write((tx) => tx.db.insertInto('definitions').values(late).execute());
  await keepEarlierPrompts(store.database, NOW);
  expect((await count()).map(({ hash }) => hash)).toContain(promptHash('late'));
  expect(await count()).toHaveLength(46);
});
