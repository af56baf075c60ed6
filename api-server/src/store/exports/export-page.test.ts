import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { type KeyedRow, textPage } from '../db/texts/text-page.ts';
import { addLargeRun } from '../fixtures/large-run.ts';
import { exportPages, type ExportReader } from './export-page.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

test('a page of executions reads few of them, or those of one run', async () => {
  const steps = [1, 1_200, 1_200, 0, 2_500, 2];
  for (const [n, some] of steps.entries()) await (some > 1 ? addLargeRun(store, n, some) : addRun(n, some));
  const { db } = store.database;
  const read: number[] = [];
  const readText: ExportReader['readText'] = async (query, as) => {
    const { rows } = await db.executeQuery<KeyedRow>(query);
    read.push(rows.length);
    return { text: textPage(rows, as).text, last: null };
  };
  const pageAt = exportPages({ db, readText }, 'steps', {});
  for (let after: number | null = 0; after !== null;)
    ({ next: after } = await pageAt({ after, format: 'jsonl', header: false }));
  expect(read).toEqual([1_201, 1_200, 2_500, 2]);
});

async function addRun(n: number, steps: number): Promise<void> {
  const id = await store.addRun(n);
  for (let step = 0; step < steps; step += 1) await store.addStep(id, `step-${step}`);
}
