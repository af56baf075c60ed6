import { z } from 'zod';
import { tidy } from '../../analytics/tidy.ts';
import type { Graded } from '../../analytics/replay/graded.ts';
import { compareUse, confidences, summarize, type Used } from '../../analytics/replay/summary.ts';
import { RUN_STATUSES, type RunStatus, TERMINAL_RUN_STATUSES } from '../../runs/state/model.ts';
import {
  type Candidate,
  type Judgement,
  REPLAY_MODES,
  REPLAY_SOURCES,
  type ReplayBucket,
  type ReplaySource,
  type StepReplay,
} from '../../runs/state/replay.ts';
import { component, NullableNumber, NullableText, Time, viewOf } from './answer.ts';
import { LabelView, ReplayRow, replayRow, ROW } from './replay-row.ts';

const RUN_ID = ROW.candidate.run_id;

/** The end of a launch that waited for its batch (Orchestration 2.10). */
export const ReplayLaunched = component(
  'ReplayLaunched',
  z.strictObject({ status: z.enum(TERMINAL_RUN_STATUSES), run_id: z.string() }),
  { status: 'completed', run_id: RUN_ID },
);
export type ReplayLaunched = z.infer<typeof ReplayLaunched>;

export const ReplayBucketView = z
  .strictObject({
    agent: NullableText,
    model: NullableText,
    provider: NullableText,
    prompt_hash: NullableText,
    agent_version: NullableText,
  })
  .meta({ id: 'ReplaySourceBucket' });

export const CandidateView = z
  .strictObject({ model: z.string().optional(), agent: z.string().optional(), prompt_template: z.string().optional() })
  .meta({ id: 'ReplayedCandidate' });

export const UsedView = z
  .strictObject({
    n: z.number(),
    input_tokens: NullableNumber,
    output_tokens: NullableNumber,
    cost: NullableNumber,
    unpriced: z.number(),
    duration_seconds: NullableNumber,
  })
  .meta({ id: 'ReplayUse' });

const USED = { n: 1, input_tokens: 900, output_tokens: 80, cost: 0.004, unpriced: 0, duration_seconds: 3.1 };
const BUCKET = {
  agent: 'sre-triage',
  model: 'claude-haiku',
  provider: 'anthropic',
  prompt_hash: '9c1be2f04a7d',
  agent_version: '51f0aa2be9c1',
};

/** What a batch of one step came to, computed for this answer (Orchestration 2.10). */
export const ReplayReport = component(
  'ReplayReport',
  z.strictObject({
    step_name: z.string(),
    mode: z.enum(REPLAY_MODES),
    /** Null where the samples were chosen one by one. */
    source_bucket: ReplayBucketView.nullable(),
    candidate: CandidateView,
    k: z.number(),
    recorded_distribution: z.strictObject({ correct: z.number(), partial: z.number(), incorrect: z.number() }),
    recorded_accuracy: NullableNumber,
    candidate_accuracy_so_far: NullableNumber,
    candidate_graded_n: z.number(),
    candidate_total_n: z.number(),
    /** Checks that may change something: not run, neither passed nor failed. */
    checks_not_run: z.array(z.string()),
    unreplayable_count: z.number(),
    judge_accuracy: NullableNumber,
    judge_graded_n: z.number(),
    judge_skipped_n: z.number(),
    judge_skipped_breakdown: z.record(z.string(), z.number()),
    combined_accuracy: NullableNumber,
    confidence_distribution: z.array(
      z.strictObject({ lo: z.number(), hi: z.number(), recorded_n: z.number(), candidate_n: z.number() }),
    ),
    rows: z.array(ReplayRow),
    run_id: z.string(),
    kind: z.literal('step'),
    source: z.enum(REPLAY_SOURCES),
    status: z.enum(RUN_STATUSES),
    triggered_at: Time,
    completed_at: Time.nullable(),
    regressed: z.number(),
    improved: z.number(),
    unchanged: z.number(),
    /** Samples whose pinned label differs from the one of now. */
    label_divergences: z.array(
      z.strictObject({
        sample_step_id: z.string(),
        pinned_label: LabelView.nullable(),
        current_label: LabelView.nullable(),
      }),
    ),
    /** Of the samples that have both. */
    used: z.strictObject({ recorded: UsedView, candidate: UsedView }),
    /** What the judge used; null where none is configured. */
    judge: z
      .strictObject({
        agent: z.string(),
        input_tokens: z.number(),
        output_tokens: z.number(),
        cost: NullableNumber,
      })
      .nullable(),
  }),
  {
    step_name: 'investigate',
    mode: 'rendered',
    source_bucket: BUCKET,
    candidate: { model: 'claude-sonnet' },
    k: 20,
    recorded_distribution: { correct: 1, partial: 0, incorrect: 0 },
    recorded_accuracy: 1,
    candidate_accuracy_so_far: null,
    candidate_graded_n: 0,
    candidate_total_n: 1,
    checks_not_run: [],
    unreplayable_count: 0,
    judge_accuracy: null,
    judge_graded_n: 0,
    judge_skipped_n: 0,
    judge_skipped_breakdown: {},
    combined_accuracy: null,
    confidence_distribution: [{ lo: 0.9, hi: 1, recorded_n: 1, candidate_n: 1 }],
    rows: [ROW],
    run_id: RUN_ID,
    kind: 'step',
    source: 'replay',
    status: 'completed',
    triggered_at: '2026-11-02T09:30:00.000Z',
    completed_at: '2026-11-02T09:30:12.000Z',
    regressed: 0,
    improved: 0,
    unchanged: 0,
    label_divergences: [],
    used: { recorded: USED, candidate: USED },
    judge: null,
  },
);
export type ReplayReport = z.infer<typeof ReplayReport>;

/** The run that holds a batch; times in milliseconds. */
export interface BatchRun {
  id: string;
  source: string;
  status: RunStatus;
  triggeredAt: number;
  completedAt: number | null;
}

export const candidateView = ({ model, agent, promptTemplate }: Candidate): z.infer<typeof CandidateView> => ({
  ...(model === undefined ? {} : { model }),
  ...(agent === undefined ? {} : { agent }),
  ...(promptTemplate === undefined ? {} : { prompt_template: promptTemplate }),
});

export const bucketSourceView = (bucket: ReplayBucket) => viewOf(ReplayBucketView, bucket);
export const usedView = (used: Used) => viewOf(UsedView, used);
export interface ReportFacts {
  run: BatchRun;
  replay: StepReplay;
  rows: readonly Graded[];
  binWidth: number;
}

export function replayReport({ run, replay, rows, binWidth }: ReportFacts): ReplayReport {
  const { stepName, mode, bucket, candidate, k, judge } = replay;
  const used = compareUse(rows);
  const summary = summarize(rows);
  return viewOf(
    ReplayReport,
    { ...run, ...summary, stepName, mode, k, rows: rows.map(replayRow), kind: replay.kind },
    {
      source: run.source as ReplaySource,
      source_bucket: bucket && bucketSourceView(bucket),
      candidate: candidateView(candidate),
      run_id: run.id,
      checks_not_run: replay.checksNotRun ?? [],
      confidence_distribution: confidences(rows, binWidth).map(({ lo, hi, recordedN, candidateN }) => ({
        lo,
        hi,
        recorded_n: recordedN,
        candidate_n: candidateN,
      })),
      label_divergences: rows.flatMap(({ sample, diverged }) =>
        diverged && sample.stepId !== null
          ? [{ sample_step_id: sample.stepId, pinned_label: diverged.pinned, current_label: diverged.current }]
          : [],
      ),
      used: { recorded: usedView(used.recorded), candidate: usedView(used.candidate) },
      judge: judge && { agent: judge.agent, ...judgeUse(rows) },
    },
  );
}

function judgeUse(rows: readonly Graded[]) {
  const said = rows.flatMap(({ sample }) => sample.judgement ?? []);
  const sum = (pick: (judgement: Judgement) => number | null) =>
    said.reduce((total, judgement) => total + (pick(judgement) ?? 0), 0);
  const priced = said.some(({ cost }) => cost !== null);
  return {
    input_tokens: sum(({ inputTokens }) => inputTokens),
    output_tokens: sum(({ outputTokens }) => outputTokens),
    cost: priced ? tidy(sum(({ cost }) => cost)) : null,
  };
}
