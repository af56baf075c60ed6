import { z } from 'zod';
import type { Execution, Graded } from '../../analytics/replay/graded.ts';
import { OUTCOMES } from '../../runs/state/model.ts';
import { GRADES } from '../../runs/state/replay.ts';
import { AnyObject, NullableNumber, NullableText, viewOf } from './answer.ts';
export { meanLabel } from '../../analytics/accuracy.ts';

/** 1 correct, 0.5 partial, 0 incorrect. */
export const LabelView = z.union([z.literal(1), z.literal(0.5), z.literal(0)]);

/** What an execution answered and used. */
const ExecutionView = z
  .strictObject({
    run_id: z.string(),
    step_name: z.string(),
    status: z.string(),
    confidence: NullableNumber,
    summary: NullableText,
    /** One of more than 16 KiB is `{cut}`, with how its JSON begins. */
    output: AnyObject.nullable(),
    input_tokens: NullableNumber,
    output_tokens: NullableNumber,
    cost: NullableNumber,
    duration_seconds: NullableNumber,
    error: NullableText,
  })
  .meta({ id: 'ReplayExecution' });

export const ReplayRow = z
  .strictObject({
    /** The id of the recorded execution. */
    sample_step_id: NullableText,
    /** What the alert of the recorded run said, 300 characters at most. */
    source_summary: NullableText,
    recorded_label: LabelView.nullable(),
    recorded_label_source: z.enum(['human', 'deterministic', 'run']).nullable(),
    status: z.enum([...GRADES, 'pending', 'running', 'cancelled', 'skipped']),
    candidate_step_id: NullableText,
    candidate_confidence: NullableNumber,
    candidate_summary: NullableText,
    deterministic_passed: z.boolean().nullable(),
    /** The mark of the candidate by a person. */
    mark_outcome: z.enum(OUTCOMES).nullable(),
    candidate_label: LabelView.optional(),
    candidate_label_source: z.enum(['human', 'deterministic', 'judge']).optional(),
    judge_verdict: z.enum(OUTCOMES).optional(),
    judge_reason: z.string().optional(),
    judge_skipped_reason: z.string().optional(),
    /** Why the sample cannot be replayed, or why the candidate failed. */
    reason: NullableText,
    /** Null while one of the two labels is missing. */
    change: z.enum(['regressed', 'improved', 'unchanged']).nullable(),
    /** Null where it is gone. */
    recorded: ExecutionView.nullable(),
    candidate: ExecutionView.nullable(),
  })
  .meta({ id: 'ReplayRow' });
export type ReplayRow = z.infer<typeof ReplayRow>;

const EXECUTION = {
  run_id: '01a1febd-87d9-73c1-984a-8e11a3329cb6',
  step_name: 'investigate/0',
  status: 'completed',
  confidence: 0.9,
  summary: 'The connection pool is exhausted.',
  output: { action: 'restart' },
  input_tokens: 900,
  output_tokens: 80,
  cost: 0.004,
  duration_seconds: 3.1,
  error: null,
};
/** The example of a row. */
export const ROW = {
  sample_step_id: '01a1febd-87d9-8c15-84a0-8e11a3329cb6',
  source_summary: 'Checkout answers 5xx',
  recorded_label: 1,
  recorded_label_source: 'human',
  status: 'completed',
  candidate_step_id: '01a1febe-87d9-8c15-84a0-8e11a3329cb6',
  candidate_confidence: 0.9,
  candidate_summary: 'The connection pool is exhausted.',
  deterministic_passed: null,
  mark_outcome: null,
  reason: null,
  change: null,
  recorded: EXECUTION,
  candidate: EXECUTION,
} satisfies ReplayRow;

const executionView = (execution: Execution | null) => execution && viewOf(ExecutionView, execution);
const NO_CANDIDATE = {
  stepId: null,
  confidence: null,
  summary: null,
  deterministicPassed: null,
  mark: null,
  error: null,
};

/** The mapping of one graded sample. */
export function replayRow(row: Graded): ReplayRow {
  const { sample, recorded, candidate } = row;
  const said = candidate ?? NO_CANDIDATE;
  return {
    sample_step_id: recorded?.stepId ?? sample.stepId,
    source_summary: recorded && recorded.runSummary,
    recorded_label: row.recordedLabel,
    recorded_label_source: row.recordedLabelSource,
    status: row.status,
    candidate_step_id: said.stepId,
    candidate_confidence: said.confidence,
    candidate_summary: said.summary,
    deterministic_passed: said.deterministicPassed,
    mark_outcome: said.mark,
    ...known({
      candidate_label: row.candidateLabel,
      candidate_label_source: row.candidateLabelSource,
      judge_verdict: row.judgeVerdict,
      judge_reason: sample.judgement && sample.judgement.reason,
      judge_skipped_reason: row.judgeSkipped,
    }),
    reason: sample.reason ?? said.error,
    change: row.change,
    recorded: executionView(recorded),
    candidate: executionView(candidate),
  };
}

/** The fields that have a value; the others are absent. */
const known = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
