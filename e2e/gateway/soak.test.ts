import { expect, test } from 'vitest';
import { scratchDirectory } from '../support/scratch.ts';
import { problemsOf, soak, type SoakResult } from './soak-run.ts';

test('the gateway stays well among servers that do not', async () => {
  using scratch = scratchDirectory('signalbox-soak-');
  const result = await soak(scratch.path, 30, () => {});
  expect(problemsOf(result)).toEqual([]);
}, 180_000);

test.each([
  [{ growth: 1.5 }, 'memory grew'],
  [{ orphans: 1 }, 'left behind'],
  [{ goodRestarts: 1 }, 'the good server was restarted'],
  [{ badRestarts: 0 }, 'did not misbehave'],
  [{ runs: { 'good: completed': 5, 'good: timeout': 1 } }, 'ended as timeout'],
  [{ runs: {} }, 'no run of the good server'],
])('it can fail: %o', (change, sentence) => {
  const well: SoakResult = {
    runs: { 'good: completed': 5 },
    memory: [],
    growth: 1,
    goodRestarts: 0,
    badRestarts: 3,
    orphans: 0,
  };
  expect(problemsOf(well)).toEqual([]);
  expect(problemsOf({ ...well, ...change }).join()).toContain(sentence);
});
