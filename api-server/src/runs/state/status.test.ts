import { expect, test } from 'vitest';
import { RUN_STATUSES, TERMINAL_RUN_STATUSES } from './model.ts';
import { RUN_TRANSITIONS, STEP_CONSEQUENCE } from './status.ts';

test('nothing follows a terminal status, and every status can be reached', () => {
  for (const status of TERMINAL_RUN_STATUSES) expect(RUN_TRANSITIONS[status]).toEqual([]);
  const reached = new Set(Object.values(RUN_TRANSITIONS).flat());
  for (const status of RUN_STATUSES) if (status !== 'queued') expect(reached).toContain(status);
});

test('what the end of a step means for its run may follow running', () => {
  for (const next of Object.values(STEP_CONSEQUENCE))
    if (next !== 'next') expect(RUN_TRANSITIONS.running).toContain(next);
});
