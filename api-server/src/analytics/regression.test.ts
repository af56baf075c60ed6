import { describe, expect, test } from 'vitest';
import type { JudgeSkip } from '../runs/state/replay.ts';
import { alertOf, changeOf, goldenVerdict, regressionFigures, type ReplayedMember } from './regression.ts';

const member = (
  pinned: ReplayedMember['pinned'],
  fresh: ReplayedMember['fresh'],
  more: Partial<ReplayedMember> = {},
): ReplayedMember => ({ pinned, fresh, state: fresh === null ? 'ungraded' : 'graded', current: pinned, ...more });
const RULE = { alertOnRegressed: 1, alertOnAccuracyDrop: 0.1 };
const alert = (members: ReplayedMember[], rule = RULE, skips: (JudgeSkip | null)[] = []) =>
  alertOf(regressionFigures(members), rule, skips);

test.each([
  ['correct', 'incorrect', 'regressed'],
  ['correct', 'partial', 'regressed'],
  ['partial', 'correct', 'improved'],
  ['incorrect', 'correct', 'improved'],
  ['partial', 'partial', 'same'],
  ['correct', null, null],
] as const)('a member pinned as %s and now %s is %s', (pinned, fresh, change) => {
  expect(changeOf(member(pinned, fresh))).toBe(change);
});

test('a member without an answer regressed, unless it was pinned as incorrect', () => {
  expect(changeOf(member('correct', null, { state: 'failed' }))).toBe('regressed');
  expect(changeOf(member('incorrect', null, { state: 'failed' }))).toBe('same');
  expect(changeOf(member('correct', null, { state: 'unreplayable' }))).toBeNull();
});

test('the drop compares the graded members with their own labels, not with those of all', () => {
  const figures = regressionFigures([
    member('correct', 'correct'),
    member('correct', 'incorrect'),
    member('incorrect', null),
    member('incorrect', null, { state: 'unreplayable', current: 'correct' }),
  ]);
  expect(figures).toEqual({
    nMembers: 4,
    nGraded: 2,
    nRegressed: 1,
    nImproved: 0,
    nFailed: 0,
    nUnreplayable: 1,
    nUnlabelled: 0,
    nDivergences: 1,
    baselineAccuracy: 0.5,
    freshAccuracy: 0.5,
    accuracyDrop: 0.5,
  });
});

describe('an alert is sent', () => {
  const good = Array.from({ length: 9 }, () => member('correct', 'correct'));
  test('when as many members regressed as the entry says', () => {
    expect(alert([...good, member('correct', 'partial')])).toBe('1 of 10 members regressed.');
    expect(alert([...good, member('correct', 'partial')], { ...RULE, alertOnRegressed: 2 })).toBeNull();
  });
  test('when accuracy fell exactly as far as the entry says', () => {
    const rule = { alertOnRegressed: 5, alertOnAccuracyDrop: 0.1 };
    expect(alert([...good, member('correct', 'incorrect')], rule)).toBe(
      'Accuracy of the 10 graded members fell by 10.0 percentage points, from 100.0% to 90.0%.',
    );
    expect(alert([...good, member('correct', 'partial')], rule)).toBeNull();
  });
  test('with the accuracies of the graded members, whatever those of the others were', () => {
    const ungraded = Array.from({ length: 6 }, () => member('incorrect', null));
    const graded = [...good.slice(0, 3), member('correct', 'incorrect')];
    expect(alert([...graded, ...ungraded])).toBe(
      '1 of 10 members regressed. Accuracy of the 4 graded members fell by 25.0 percentage points, from 100.0% to 75.0%.',
    );
  });
  test('when every member is unreplayable, and not for a part of them', () => {
    const gone = member('correct', null, { state: 'unreplayable' });
    expect(alert([gone, gone])).toBe('No member of the set could be replayed.');
    expect(alert([gone, member('correct', 'correct')])).toBeNull();
  });
  test('when the agent gives no answers any more', () => {
    expect(alert([member('correct', null, { state: 'failed' })])).toBe(
      '1 of 1 members regressed, 1 of them without an answer.',
    );
  });
  test('when nothing is graded because the judge gave no verdict', () => {
    const ungraded = Array.from({ length: 4 }, () => member('correct', null));
    const skips: (JudgeSkip | null)[] = ['judge_failed', 'judge_timeout', 'judge_failed', 'recorded_incorrect'];
    expect(alert(ungraded, RULE, skips)).toBe(
      'No fresh answer has a label: the judge did not answer in time (1 of 4 members), failed (2 of 4 members).',
    );
    expect(alert(ungraded, RULE, [null, null, null, 'recorded_incorrect'])).toBeNull();
  });
  test('when the judge was silent about so many that enough of them may have regressed', () => {
    const silent = [...good, member('correct', null)];
    expect(alert(silent, RULE, ['judge_failed'])).toBe(
      'Not all fresh answers have a label: the judge failed (1 of 10 members).',
    );
    const rule = { ...RULE, alertOnRegressed: 2 };
    expect(alert(silent, rule, ['judge_failed'])).toBeNull();
    expect(alert([...silent, member('correct', 'partial')], rule, ['judge_failed'])).toBe(
      '1 of 11 members regressed. Not all fresh answers have a label: the judge failed (1 of 11 members).',
    );
    expect(alert(silent, RULE, [null])).toBeNull();
  });
  test('and not when everything is as before or better', () => {
    expect(alert([...good, member('partial', 'correct')])).toBeNull();
  });
});

const ENDED = {
  status: 'completed' as const,
  error: null,
  nMembers: 4,
  nRegressed: 0,
  nGraded: 3,
  nUnreplayable: 1,
  nUnlabelled: 0,
};

test('members pinned as correct without a label are counted, as nothing says that they did not regress', () => {
  const figures = regressionFigures([
    member('correct', 'correct'),
    member('correct', null),
    member('partial', null),
    member('incorrect', null),
    member('correct', null, { state: 'failed' }),
    member('correct', null, { state: 'unreplayable' }),
  ]);
  expect(figures).toMatchObject({ nGraded: 1, nUnlabelled: 1 });
});

test.each([
  [null, 'unknown', 'no replay of the set has ended yet'],
  [{ ...ENDED, nGraded: 4, nUnreplayable: 0 }, 'regression_free', 'none of 4 members regressed'],
  [ENDED, 'regression_free', 'none of 4 members regressed; 3 of them got a label'],
  [{ ...ENDED, nGraded: 1, nUnlabelled: 2 }, 'unknown', 'only 1 of 4 members got a label'],
  [{ ...ENDED, nGraded: 1, nUnlabelled: null }, 'unknown', 'only 1 of 4 members got a label'],
  [{ ...ENDED, nUnlabelled: null }, 'regression_free', 'none of 4 members regressed; 3 of them got a label'],
  [{ ...ENDED, nRegressed: 2 }, 'regressed', '2 of 4 members regressed'],
  [
    { ...ENDED, status: 'crashed' as const, error: 'the run is gone' },
    'unknown',
    'the last replay crashed: the run is gone',
  ],
  [{ ...ENDED, nUnreplayable: 4, nGraded: 0 }, 'unknown', 'no member of the set could be replayed'],
  [{ ...ENDED, nGraded: 0 }, 'unknown', 'no fresh answer of the last replay has a label'],
  [{ ...ENDED, nGraded: 0, nRegressed: 1 }, 'regressed', '1 of 4 members regressed'],
])('a last replay %j is the verdict %s', (last, verdict, reason) => {
  expect(goldenVerdict(last)).toEqual({ verdict, reason });
});
