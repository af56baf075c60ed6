import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY_MS } from '../../../analytics/window.ts';
import { NOW, openTestStore, type TestStore } from '../../../web/fixtures/store.ts';
import { markRun } from '../../tables/feedback.ts';
import { closeDays } from '../daily/close-days.ts';
import { runLabels } from '../run-labels.ts';
import { NOT_NOTED, noteUses } from './label-uses.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const signal = new AbortController().signal;
const OLD = NOW - 20 * DAY_MS;

async function addMarked(n: number, uses: readonly (readonly [agent: string, model: string | null])[]): Promise<void> {
  const times = { triggered_at: OLD + n, completed_at: OLD + n + 10 };
  const id = await store.addRun(n, times);
  for (const [at, [agent, model]] of uses.entries())
    await store.addStep(id, `look-${at}`, { agent, model, started_at: OLD + n, completed_at: OLD + n + 5 });
  await mark(id);
}

const mark = (runId: string) =>
  store.database.write((tx) =>
    markRun(tx, { runId, outcome: 'correct', notes: null, submittedAt: NOW, submittedBy: 'ada' }),
  );

const labelled = async (asked: { agent?: string; model?: string }): Promise<number> => {
  const scope = { window: { from: null, to: null }, stages: ['production'] as const, ...asked };
  const { all } = await runLabels(store.database.db, scope, ['all']);
  return all.reduce((sum, { n }) => sum + n, 0);
};

const counts = async () => ({
  reader: await labelled({ agent: 'reader' }),
  large: await labelled({ model: 'large' }),
  both: await labelled({ agent: 'reader', model: 'large' }),
  quoted: await labelled({ agent: 'say "a","b"' }),
  part: await labelled({ agent: 'read' }),
  inside: await labelled({ agent: 'a', model: 'b' }),
  case: await labelled({ agent: 'Reader' }),
});

test('labels are found by what their runs used, before it is noted and after', async () => {
  await addMarked(1, [
    ['reader', 'small'],
    ['writer', 'large'],
  ]);
  await addMarked(2, [['reader', 'large']]);
  await addMarked(3, [['say "a","b"', null]]);
  await addMarked(4, []);
  const expected = { reader: 2, large: 2, both: 1, quoted: 1, part: 0, inside: 0, case: 0 };
  expect(await counts()).toEqual(expected);
  const { database } = store;
  await closeDays({ database, now: NOW, signal });
  expect(await noteUses({ database, signal })).toBe(4);
  expect(await counts()).toEqual(expected);
  const noted = database.db.selectFrom('run_labels').select('run_id').where('uses', 'is not', null);
  expect(await noted.execute()).toHaveLength(4);
});

test('uses that are too long for an index are not noted, and found all the same', async () => {
  const { database } = store;
  const many = Array.from({ length: 64 }, () => randomBytes(31).toString('hex'));
  await addMarked(
    1,
    many.map((agent) => [agent, 'large'] as const),
  );
  await addMarked(2, [['reader', 'small']]);
  await closeDays({ database, now: NOW, signal });
  expect(await noteUses({ database, signal })).toBe(2);
  expect(await noteUses({ database, signal })).toBe(0);
  const notNoted = database.db.selectFrom('run_labels').select('run_id').where('uses', '=', NOT_NOTED);
  expect(await notNoted.execute()).toHaveLength(1);
  expect(await labelled({ agent: many[63]! })).toBe(1);
  expect(await labelled({ agent: 'reader' })).toBe(1);
});

test('a run that is marked again after its day was closed is noted again', async () => {
  await addMarked(1, [['reader', 'small']]);
  const { database } = store;
  await closeDays({ database, now: NOW, signal });
  expect(await noteUses({ database, signal })).toBe(1);
  const { run_id: id } = await database.db.selectFrom('run_labels').select('run_id').executeTakeFirstOrThrow();
  await mark(id);
  expect(await labelled({ agent: 'reader' })).toBe(1);
  expect(await noteUses({ database, signal })).toBe(1);
  expect(await labelled({ agent: 'reader' })).toBe(1);
});
