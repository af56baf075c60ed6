import type { Outcome } from '../runs/state/model.ts';
import type { JudgeSkip } from '../runs/state/replay.ts';

/** How a member of a golden set was answered again: `failed` without an answer, `ungraded` without a label. */
export const MEMBER_STATES = ['graded', 'ungraded', 'failed', 'unreplayable'] as const;
export type MemberState = (typeof MEMBER_STATES)[number];

/** A member of a golden set beside its fresh answer. */
export interface ReplayedMember {
  /** The label that was copied when the member was pinned. */
  pinned: Outcome;
  state: MemberState;
  /** The label of the fresh answer; null where it has none. */
  fresh: Outcome | null;
  /** The label that the recorded execution has now; null where it has none or is gone. */
  current: Outcome | null;
}

/** What a replay of a whole set showed. Accuracies are means of labels, 0..1. */
export interface RegressionFigures {
  nMembers: number;
  nGraded: number;
  /** Members whose fresh answer has a lower label than the pinned one, or that got no answer and had one that was not incorrect. */
  nRegressed: number;
  nImproved: number;
  nFailed: number;
  nUnreplayable: number;
  /** Members pinned as correct whose fresh answer has no label: nothing says that they did not regress. */
  nUnlabelled: number;
  nDivergences: number;
  /** Of all members; null without members. */
  baselineAccuracy: number | null;
  /** Of the graded members; null where none was graded. */
  freshAccuracy: number | null;
  /** How much the graded members lost; negative for a gain, null where none was graded. */
  accuracyDrop: number | null;
}

export interface AlertRule {
  /** Regressed members from which on an alert is sent. */
  alertOnRegressed: number;
  /** Loss of accuracy from which on an alert is sent, 0..1. */
  alertOnAccuracyDrop: number;
}

const LABEL: Readonly<Record<Outcome, number>> = { correct: 1, partial: 0.5, incorrect: 0 };
/** Sums of labels are exact, their means are not. */
const EPSILON = 1e-9;

export type Change = 'regressed' | 'improved' | 'same' | null;

/** Whether the member got worse or better; null where nothing says so. */
export function changeOf({ pinned, state, fresh }: Pick<ReplayedMember, 'pinned' | 'state' | 'fresh'>): Change {
  if (state === 'failed') return LABEL[pinned] > 0 ? 'regressed' : 'same';
  if (fresh === null || state === 'unreplayable') return null;
  const gain = LABEL[fresh] - LABEL[pinned];
  return gain < 0 ? 'regressed' : gain > 0 ? 'improved' : 'same';
}

/** Pinned labels do not follow later marks (Orchestration 4.6). */
export const isDivergent = ({ pinned, current }: Pick<ReplayedMember, 'pinned' | 'current'>): boolean =>
  current !== null && current !== pinned;

export function regressionFigures(members: readonly ReplayedMember[]): RegressionFigures {
  const graded = members.filter(({ fresh, state }) => state === 'graded' && fresh !== null);
  const count = (is: (member: ReplayedMember) => boolean) => members.filter(is).length;
  const freshAccuracy = mean(graded.map(({ fresh }) => LABEL[fresh as Outcome]));
  const before = mean(graded.map(({ pinned }) => LABEL[pinned]));
  return {
    nMembers: members.length,
    nGraded: graded.length,
    nRegressed: count((member) => changeOf(member) === 'regressed'),
    nImproved: count((member) => changeOf(member) === 'improved'),
    nFailed: count(({ state }) => state === 'failed'),
    nUnreplayable: count(({ state }) => state === 'unreplayable'),
    nUnlabelled: count(({ pinned, state }) => pinned === 'correct' && state === 'ungraded'),
    nDivergences: count(isDivergent),
    baselineAccuracy: mean(members.map(({ pinned }) => LABEL[pinned])),
    freshAccuracy,
    accuracyDrop: before === null || freshAccuracy === null ? null : before - freshAccuracy,
  };
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;

export const GOLDEN_VERDICTS = ['regression_free', 'regressed', 'unknown'] as const;

/** What the last replay of a set says of the loaded definitions, with a sentence. */
export interface GoldenVerdict {
  verdict: (typeof GOLDEN_VERDICTS)[number];
  reason: string;
}

/** Figures as they are stored, or null where no replay has ended. */
type Ended = {
  status: 'running' | 'completed' | 'crashed';
  error: string | null;
  nMembers: number;
} & { [K in 'nRegressed' | 'nGraded' | 'nUnreplayable' | 'nUnlabelled']: number | null };

/** Of a replay that ended before they were counted, all that may be. */
const unlabelledOf = ({ nUnlabelled, nMembers, nGraded, nUnreplayable }: Ended): number =>
  nUnlabelled ?? nMembers - (nGraded ?? 0) - (nUnreplayable ?? 0);

/** Nothing is known as long as a member pinned as correct may have regressed unseen. */
export function goldenVerdict(last: Ended | null): GoldenVerdict {
  if (last === null) return { verdict: 'unknown', reason: 'no replay of the set has ended yet' };
  const { status, error, nMembers, nRegressed, nGraded, nUnreplayable } = last;
  if (status !== 'completed') return { verdict: 'unknown', reason: `the last replay crashed: ${error ?? 'no reason'}` };
  if (nRegressed !== null && nRegressed > 0)
    return { verdict: 'regressed', reason: `${nRegressed} of ${nMembers} members regressed` };
  if (nUnreplayable === nMembers) return { verdict: 'unknown', reason: 'no member of the set could be replayed' };
  if (nGraded === 0) return { verdict: 'unknown', reason: 'no fresh answer of the last replay has a label' };
  if (unlabelledOf(last) > 0)
    return { verdict: 'unknown', reason: `only ${nGraded} of ${nMembers} members got a label` };
  const labelled = nGraded === nMembers ? '' : `; ${nGraded} of them got a label`;
  return { verdict: 'regression_free', reason: `none of ${nMembers} members regressed${labelled}` };
}

/** What a judge did that was asked and gave no verdict. */
const SILENCE = new Map<JudgeSkip | null, string>([
  ['judge_timeout', 'did not answer in time'],
  ['judge_failed', 'failed'],
  ['judge_invalid', 'answered something that is no verdict'],
]);

/** Why members have no label although a judge was asked. */
function silenceOf({ nGraded, nMembers }: RegressionFigures, skips: readonly (JudgeSkip | null)[]): string {
  const said = [...SILENCE].flatMap(([skip, words]) => {
    const n = skips.filter((one) => one === skip).length;
    return n === 0 ? [] : `${words} (${n} of ${nMembers} members)`;
  });
  const labelled = nGraded === 0 ? 'No fresh answer has' : 'Not all fresh answers have';
  return `${labelled} a label: the judge ${said.join(', ')}.`;
}

function lossOf({ nRegressed, nMembers, nFailed }: RegressionFigures): string {
  const failed = nFailed === 0 ? '' : `, ${nFailed} of them without an answer`;
  return `${nRegressed} of ${nMembers} members regressed${failed}.`;
}

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

/** Of the graded members, with their own accuracy before; that of all members is another one. */
function fallOf({ nGraded, freshAccuracy, accuracyDrop }: RegressionFigures, rule: AlertRule): string[] {
  if (freshAccuracy === null || accuracyDrop === null) return [];
  if (accuracyDrop < rule.alertOnAccuracyDrop - EPSILON) return [];
  const of = nGraded === 1 ? 'the only graded member' : `the ${nGraded} graded members`;
  const points = `${(accuracyDrop * 100).toFixed(1)} percentage points`;
  const [before, now] = [freshAccuracy + accuracyDrop, freshAccuracy].map(percent);
  return [`Accuracy of ${of} fell by ${points}, from ${before} to ${now}.`];
}

/**
 * Why somebody has to hear of it, as sentences; null where nobody has to (Orchestration 4.6). `skips`: why members without a label
 * have no verdict. Each that the judge was silent about may have regressed, and counts as if it had.
 */
export function alertOf(
  figures: RegressionFigures,
  rule: AlertRule,
  skips: readonly (JudgeSkip | null)[],
): string | null {
  const { nMembers, nUnreplayable, nRegressed, nGraded } = figures;
  const nSilent = skips.filter((skip) => SILENCE.has(skip)).length;
  const isReached = nRegressed + nSilent >= rule.alertOnRegressed;
  if (nUnreplayable === nMembers) return 'No member of the set could be replayed.';
  const reasons: string[] = [];
  if (nRegressed > 0 && isReached) reasons.push(lossOf(figures));
  reasons.push(...fallOf(figures, rule));
  if (nSilent > 0 && (nGraded === 0 || isReached)) reasons.push(silenceOf(figures, skips));
  return reasons.length === 0 ? null : reasons.join(' ');
}
