import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packRuns, type UsedRun, type Use, unpackRuns, unpackUses } from './packed-runs.ts';

const DAY = Date.parse('2026-11-20T00:00:00Z');
const name = fc.oneof(fc.constantFrom('', 'a', 'b', '"a",', 'ä\n'), fc.string());
const Run: fc.Arbitrary<UsedRun> = fc.record({
  kind: fc.record({
    pipeline: fc.constantFrom('checkout', 'payments'),
    stage: fc.constantFrom('production', 'testing'),
    team: fc.constantFrom(null, 'web'),
    status: fc.constantFrom('completed', 'failed'),
  }),
  times: fc.record({
    triggeredAt: fc.integer({ min: DAY, max: DAY + 86_399_999 }),
    took: fc.maxSafeNat(),
    waited: fc.option(fc.nat()),
  }),
  uses: fc.uniqueArray(fc.tuple(name, name), { selector: (use) => JSON.stringify(use), maxLength: 12 }),
});

test('of packed runs are found those with the kinds and the uses that are asked for, as they were', () => {
  fc.assert(
    fc.property(fc.array(Run), name, (runs, agent) => {
      const part = { day: DAY, body: Buffer.from(packRuns(DAY, runs)) };
      const isUse = ([used]: Use) => used === agent;
      const found: Omit<UsedRun, 'uses'>[] = [];
      unpackRuns(part, { kind: (kind) => (kind.team === null ? kind : null), use: isUse }, (kind, times) =>
        found.push({ kind, times }),
      );
      expect(found).toEqual(
        runs
          .filter(({ kind, uses }) => kind.team === null && uses.some(isUse))
          .map(({ kind, times }) => ({ kind, times })),
      );
      const uses: Use[] = [];
      unpackUses(part, (_, use) => uses.push(use));
      const inOrder = (list: readonly Use[]) => list.map((use) => JSON.stringify(use)).toSorted();
      expect(inOrder(uses)).toEqual(inOrder(runs.flatMap((run) => run.uses)));
    }),
  );
});
