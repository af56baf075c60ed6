import { expect, test } from 'vitest';
import { createPruning, type PruneBefore } from './pruning.ts';

const DAY_MS = 86_400_000;

test('messages that did not arrive are kept for a year, and the log says when they go', async () => {
  const asked: PruneBefore[] = [];
  const said: object[] = [];
  const left = [{ done: 1, undelivered: 2 }];
  const { signal } = new AbortController();
  const outbox = {
    prune: async (before: PruneBefore) => {
      asked.push(before);
      return left.pop() ?? { done: 0, undelivered: 0 };
    },
  };
  const prune = createPruning({ outbox, log: { warn: (fields: object) => said.push(fields) } });
  const at = 1000 * DAY_MS;
  for (const later of [0, 1000, 3_600_000]) await prune(at + later, signal);
  expect(asked.map(({ done, undelivered }) => [done - at, undelivered - at])).toEqual([
    [-30 * DAY_MS, -365 * DAY_MS],
    [-30 * DAY_MS + 3_600_000, -365 * DAY_MS + 3_600_000],
  ]);
  expect(said).toEqual([{ deleted: 2 }]);
});
