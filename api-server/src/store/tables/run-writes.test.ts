import { afterEach, beforeEach, expect, test } from 'vitest';
import { isTerminal, RUN_STATUSES, type RunStatus } from '../../runs/state/model.ts';
import { RUN_TRANSITIONS } from '../../runs/state/status.ts';
import { openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { endRun, setLiveStatus } from './run-writes.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const NOTHING = { error_step: null, error_message: null, trust: null, threshold: null, cost: null };
const SPENT = { input_tokens: 0, output_tokens: 0, unpriced_steps: 0, warning_count: 0 };

/** No run goes back into the queue, so the store has no way to do that. */
const CHANGES = RUN_STATUSES.flatMap((from) =>
  RUN_STATUSES.filter((to) => to !== 'queued').map((to): [RunStatus, Exclude<RunStatus, 'queued'>] => [from, to]),
);

test.each(CHANGES)('a run that is %s becomes %s where the transitions say so', async (from, to) => {
  const id = await store.addRun(1, { status: from });
  const change = store.database.write(async (tx) => {
    if (isTerminal(to)) await endRun(tx, { id, status: to, completed_at: 1, ...NOTHING, ...SPENT });
    else await setLiveStatus(tx, id, to);
  });
  const allowed = from === to || RUN_TRANSITIONS[from].includes(to);
  if (allowed) await change;
  else await expect(change).rejects.toMatchObject({ type: 'conflict', message: expect.stringContaining(from) });
  const row = await store.database.db.selectFrom('runs').select('status').where('id', '=', id).executeTakeFirst();
  expect(row?.status).toBe(allowed ? to : from);
});
