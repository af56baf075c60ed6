import { afterEach, beforeEach, expect, test } from 'vitest';
import { DAY_MS } from '../../../analytics/window.ts';
import { openTestStore, type TestStore } from '../../../web/fixtures/store.ts';
import { insertAudit } from '../audit.ts';
import { markRun } from '../feedback.ts';
import { judgeAgain } from './judge-again.ts';

/** When the fixture's database was migrated. */
const MIGRATED = 1;
const LONG_AGO = MIGRATED - 30 * DAY_MS;

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const signal = new AbortController().signal;
const again = (now: number) => judgeAgain({ database: store.database, now, signal });
const judged = async () =>
  (await store.database.db.selectFrom('judged_steps').select(['run_id', 'outcome']).execute()).map(
    ({ run_id, outcome }) => `${run_id} ${outcome}`,
  );

const mark = (runId: string) =>
  store.database.write(async (tx) => {
    await markRun(tx, { runId, outcome: 'partial', notes: null, submittedAt: MIGRATED, submittedBy: 'ada' });
  });
const audit = (runId: string, action: 'mark' | 'withdraw_mark') =>
  store.database.write((tx) =>
    insertAudit(tx, {
      ts: MIGRATED + 5,
      actor: 'ada',
      actorKind: 'token',
      role: 'operator',
      action,
      targetType: 'run',
      target: runId,
      runId,
      outcome: 'partial',
      priorYaml: null,
      requestId: null,
    }),
  );

test('what an older process labelled after the migration counts: marks, withdrawn ones, and failed checks', async () => {
  const [marked, withdrawn] = [
    await store.addRun(1, { triggered_at: LONG_AGO }),
    await store.addRun(2, { triggered_at: LONG_AGO }),
  ];
  const failed = await store.addRun(3, { triggered_at: MIGRATED });
  for (const id of [marked, withdrawn]) {
    await store.addStep(id, 'look');
    await mark(id);
  }
  await store.addStep(failed, 'look', { deterministic_passed: 0 });
  await audit(marked, 'mark');
  await audit(withdrawn, 'withdraw_mark');
  const expected = [`${marked} partial`, `${failed} incorrect`];
  // What such a process leaves.
  await store.database.write(async ({ db }) => {
    await db.deleteFrom('judged_steps').where('run_id', '<>', withdrawn).execute();
    await db.deleteFrom('run_feedback').where('run_id', '=', withdrawn).execute();
  });
  expect(await judged()).toEqual([`${withdrawn} partial`]);
  expect(await again(MIGRATED + 2 * DAY_MS)).toBe(0);
  expect(await again(MIGRATED + 1000)).toBe(3);
  expect((await judged()).toSorted()).toEqual(expected);
});
