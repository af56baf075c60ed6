import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestStore, runIdOf, type TestStore } from '../../../web/fixtures/store.ts';
import { createDeclared } from './declared.ts';
import { resultsOf, resultsToKeep } from './results.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const runs = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: runIdOf(at), definitionHash: 'abc', result: undefined }));
const answer = (run: number, step_index: number, output: object) =>
  store.addStep(runIdOf(run), `step${step_index}`, { step_index, output: JSON.stringify(output) });
const stepOf = async (run: number) =>
  (await resultsOf(store.database.db, runs(run + 1), createDeclared(store.database.db))).get(runIdOf(run))?.stepName;

test('the last step that proposes an action is the result, of the last twenty answers', async () => {
  await store.addRun(0);
  await answer(0, 0, { action: 'restart' });
  for (let at = 1; at < 20; at++) await answer(0, at, { cause: 'a full disk' });
  expect(await stepOf(0)).toBe('step0');
  await answer(0, 20, { cause: 'a full disk' });
  expect(await stepOf(0)).toBe('step20');
});

test('a list reads 2 MiB of outputs, the last of each run first, and a result that is kept waits for none of it', async () => {
  const count = 30;
  const long = 'x'.repeat(16_000);
  for (let run = 0; run < count; run++) {
    await store.addRun(run);
    for (let at = 0; at < 2; at++) await answer(run, at, at === 0 ? { action: long } : { cause: long });
  }
  const read = async (results: typeof resultsOf) => {
    const found = await results(store.database.db, runs(count), createDeclared(store.database.db));
    expect(found.size).toBe(count);
    return [...found.values()].filter(({ actions }) => actions.length > 0).length;
  };
  expect(await read(resultsOf)).toBe(count);
  for (let run = 0; run < count; run++) for (let at = 2; at < 5; at++) await answer(run, at, { cause: long });
  const some = await read(resultsOf);
  expect(some).toBeGreaterThan(0);
  expect(some).toBeLessThan(count);
  expect(await read(resultsToKeep)).toBe(count);
});
