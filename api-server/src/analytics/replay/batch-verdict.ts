import type { Outcome, StepStatus } from '../../runs/state/model.ts';
import { gradeOf, NO_JUDGEMENT, type Replay } from '../../runs/state/replay.ts';
import { type Change, changeIn } from './graded.ts';

/** How the answers of a batch stand against the recorded ones, counted as its report does. */
export type BatchVerdict = Record<Change | 'failed', number>;

/** Answers of one batch and step of which the same is known. Flags are 0 or 1. */
export interface AlikeAnswers {
  batch: string;
  step: string;
  status: StepStatus;
  passed: number | null;
  mark: Outcome | null;
  /** Of the judge. */
  verdict: Outcome | null;
  pinned: number;
  /** The label at the launch. */
  launched: Outcome | null;
  /** Whether the recorded execution is still there, and its label of now. */
  present: number;
  outcome: Outcome | null;
  n: number | string;
}

export function batchVerdict(replay: Replay, answers: readonly AlikeAnswers[]): BatchVerdict {
  const asked = replay.kind === 'chain' ? replay.asked : [replay.stepName];
  const verdict = { regressed: 0, improved: 0, unchanged: 0, failed: 0 };
  for (const { n, ...one } of answers.filter(({ step }) => asked.includes(step))) {
    const candidate = {
      status: one.status,
      mark: one.mark,
      deterministicPassed: one.passed === null ? null : one.passed === 1,
    };
    const change = changeIn({
      sample: {
        pinned: one.pinned === 1,
        outcome: one.launched,
        labelSource: null,
        judgement: one.verdict && { ...NO_JUDGEMENT, verdict: one.verdict },
      },
      recorded: one.present === 1 ? { outcome: one.outcome, labelSource: null } : null,
      candidate,
    });
    if (change !== null) verdict[change] += Number(n);
    if (gradeOf(candidate) === 'execution_failed') verdict.failed += Number(n);
  }
  return verdict;
}
