import type { Outcome, StepStatus } from '../../runs/state/model.ts';
import {
  gradeOf,
  type Grade,
  type JudgeSkip,
  type RecordedLabelSource,
  type ReplaySample,
} from '../../runs/state/replay.ts';
import { LABEL_OF } from '../accuracy.ts';
import type { Label } from '../calibration.ts';

/** A recorded execution or a candidate, with what people said of it. */
export interface Execution {
  stepId: string;
  runId: string;
  /** What its alert said, 300 characters at most. */
  runSummary: string | null;
  stepName: string;
  executor: string;
  status: StepStatus;
  /** What the agent said, 0..1. */
  confidence: number | null;
  deterministicPassed: boolean | null;
  summary: string | null;
  /** One of more than 16 KiB is `{cut}`, with how its JSON begins. */
  output: Record<string, unknown> | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cost: number | null;
  durationSeconds: number | null;
  error: string | null;
  /** A person's mark of this execution alone. */
  mark: Outcome | null;
  /** The label, wherever it is from. */
  outcome: Outcome | null;
  labelSource: RecordedLabelSource | null;
}

export type SampleStatus = Grade | 'pending' | 'running' | 'cancelled' | 'skipped';
export type CandidateLabelSource = 'human' | 'deterministic' | 'judge';
export type Change = 'regressed' | 'improved' | 'unchanged';

/** One sample with all that is known of it; null labels are ungraded. */
export interface Graded {
  sample: ReplaySample;
  /** Null where it is gone. */
  recorded: Execution | null;
  candidate: Execution | null;
  status: SampleStatus;
  recordedLabel: Label | null;
  recordedLabelSource: RecordedLabelSource | null;
  candidateLabel: Label | null;
  candidateLabelSource: CandidateLabelSource | null;
  judgeVerdict: Outcome | null;
  judgeSkipped: JudgeSkip | null;
  change: Change | null;
  /** The label of now, where it differs from the pinned one. */
  diverged: { pinned: Label | null; current: Label | null } | null;
}

export const labelOf = (outcome: Outcome | null): Label | null => outcome && LABEL_OF[outcome];

export interface Pair {
  sample: ReplaySample;
  recorded: Execution | null;
  candidate: Execution | null;
}

/** What the labels of a sample are made of. */
interface Labelled {
  sample: Pick<ReplaySample, 'pinned' | 'outcome' | 'labelSource' | 'judgement'>;
  recorded: Pick<Execution, 'outcome' | 'labelSource'> | null;
  candidate: Pick<Execution, 'mark' | 'deterministicPassed'> | null;
}

function labelsIn({ sample, recorded, candidate }: Labelled) {
  const own = recordedLabelOf(sample, recorded);
  const recordedLabel = labelOf(own.outcome);
  const judged = judgementOf(sample, recordedLabel);
  return { own, recordedLabel, judged, said: candidateLabelOf(candidate, judged.verdict) };
}

/** How an answer compares with the recorded one; null while one of them has no label. */
export function changeIn(labelled: Labelled): Change | null {
  const { recordedLabel, said } = labelsIn(labelled);
  return changeOf(recordedLabel, said?.label ?? null);
}

/** Grades one sample by what is stored now: marks may have come since the batch ran. */
export function grade({ sample, recorded, candidate }: Pair): Graded {
  const { own, recordedLabel, judged, said } = labelsIn({ sample, recorded, candidate });
  return {
    sample,
    recorded,
    candidate,
    status: statusOf(sample, candidate),
    recordedLabel,
    recordedLabelSource: own.source,
    candidateLabel: said?.label ?? null,
    candidateLabelSource: said?.source ?? null,
    judgeVerdict: judged.verdict,
    judgeSkipped: judged.skipped,
    change: changeOf(recordedLabel, said?.label ?? null),
    diverged: divergence(sample, recorded),
  };
}

/** A pinned label stays; any other is the one of now, and the one of the launch where the execution is gone. */
function recordedLabelOf({ pinned, outcome, labelSource }: Labelled['sample'], recorded: Labelled['recorded']) {
  if (pinned || recorded === null) return { outcome, source: labelSource };
  return { outcome: recorded.outcome, source: recorded.labelSource };
}

/** A verdict compares with a correct answer; it says nothing once the label is another one. */
function judgementOf({ judgement }: Labelled['sample'], recordedLabel: Label | null) {
  if (judgement === null) return { verdict: null, skipped: null };
  if (judgement.verdict === null || recordedLabel === 1) return judgement;
  const skipped: JudgeSkip =
    recordedLabel === null ? 'recorded_unlabelled' : recordedLabel === 0 ? 'recorded_incorrect' : 'recorded_partial';
  return { verdict: null, skipped };
}

/** A person first, then a failed check, then the judge (Orchestration 3). */
function candidateLabelOf(
  candidate: Labelled['candidate'],
  verdict: Outcome | null,
): { label: Label; source: CandidateLabelSource } | null {
  if (candidate?.mark) return { label: LABEL_OF[candidate.mark], source: 'human' };
  if (candidate?.deterministicPassed === false) return { label: 0, source: 'deterministic' };
  return verdict && { label: LABEL_OF[verdict], source: 'judge' };
}

function statusOf({ reason }: ReplaySample, candidate: Execution | null): SampleStatus {
  if (reason !== null) return 'unreplayable';
  if (candidate === null) return 'pending';
  if (candidate.status === 'running' || candidate.status === 'cancelled' || candidate.status === 'skipped')
    return candidate.status;
  return gradeOf(candidate) ?? 'execution_failed';
}

function changeOf(before: Label | null, after: Label | null): Change | null {
  if (before === null || after === null) return null;
  if (after === before) return 'unchanged';
  return after < before ? 'regressed' : 'improved';
}

function divergence({ pinned, outcome }: ReplaySample, recorded: Execution | null): Graded['diverged'] {
  if (!pinned || recorded === null || recorded.outcome === outcome) return null;
  return { pinned: labelOf(outcome), current: labelOf(recorded.outcome) };
}
