import { expect, test } from 'vitest';
import { combine, judge, type Verdict } from './verdict.ts';

const TABLE: [verdicts: Verdict[], expected: Verdict][] = [
  [[], 'not_configured'],
  [['not_configured', 'not_configured'], 'not_configured'],
  [['no_data', 'not_configured', 'no_data'], 'no_data'],
  [['ready', 'not_ready', 'no_data', 'building'], 'not_ready'],
  [['ready', 'building'], 'building'],
  [['ready', 'no_data'], 'building'],
  [['no_data', 'building'], 'building'],
  [['ready', 'not_configured', 'ready'], 'ready'],
];

test.each(TABLE)('%j come to %s', (verdicts, expected) => {
  expect(combine(verdicts)).toBe(expected);
  expect(combine(verdicts.toReversed())).toBe(expected);
});

test.each([
  [0, { has: 0, needs: 20, holds: true }, 'no_data'],
  [5, { has: 19, needs: 20, holds: false }, 'building'],
  [5, { has: 20, needs: 20, holds: false }, 'not_ready'],
  [5, { has: 20, needs: 20, holds: true }, 'ready'],
])('of %i executions %j is %s', (rows, measure, expected) => {
  expect(judge(rows, measure)).toBe(expected);
});
