import type { MemberState, ReplayedMember } from '../../../analytics/regression.ts';
import type { Outcome } from '../../../runs/state/model.ts';
import { gradeOf } from '../../../runs/state/replay.ts';
import type { RegressionSample } from '../../../store/aggregates/regression-rows.ts';

/** Where the label of a fresh answer is from: a person, a failed check, or the judge (Orchestration 3). */
export const FRESH_SOURCES = ['human', 'deterministic', 'judge'] as const;
export type FreshSource = (typeof FRESH_SOURCES)[number];

export interface FreshLabel {
  outcome: Outcome;
  source: FreshSource;
}

/** The label of a fresh answer: a person's mark, else a failed check, else the judge's verdict; null without one. */
export function freshLabel({ candidate, judgement }: RegressionSample): FreshLabel | null {
  if (candidate?.mark) return { outcome: candidate.mark, source: 'human' };
  if (candidate?.deterministicPassed === false) return { outcome: 'incorrect', source: 'deterministic' };
  return judgement?.verdict ? { outcome: judgement.verdict, source: 'judge' } : null;
}

/** The member as figures are made of it. */
export function replayedMember(sample: RegressionSample): ReplayedMember {
  const fresh = freshLabel(sample);
  return {
    pinned: sample.outcome ?? 'incorrect',
    state: stateOf(sample, fresh),
    fresh: fresh?.outcome ?? null,
    current: sample.current,
  };
}

function stateOf({ candidate, reason }: RegressionSample, fresh: FreshLabel | null): MemberState {
  if (candidate === null) return reason === null ? 'ungraded' : 'unreplayable';
  if (fresh !== null) return 'graded';
  return gradeOf(candidate) === 'execution_failed' ? 'failed' : 'ungraded';
}
