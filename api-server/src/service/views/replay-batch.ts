import { z } from 'zod';
import { RUN_STATUSES } from '../../runs/state/model.ts';
import { REPLAY_SOURCES, type ReplaySource } from '../../runs/state/replay.ts';
import type { BatchVerdict } from '../../analytics/replay/batch-verdict.ts';
import type { ListedBatch } from '../../store/tables/replay/replay-batches.ts';
import { component, NullableText, Time, viewOf } from './answer.ts';
import { CandidateView, candidateView } from './replay.ts';

const RUN_ID = '01a1febd-87d9-73c1-984a-8e11a3329cb6';

const BATCH = {
  run_id: RUN_ID,
  kind: 'step' as const,
  step_name: 'investigate',
  pipeline_name: null,
  to_step: null,
  candidate: { model: 'claude-sonnet' },
  candidates: { investigate: { model: 'claude-sonnet' } },
  source: 'replay' as const,
  status: 'running' as const,
  triggered_at: '2026-11-02T09:30:00.000Z',
  completed_at: null,
  samples: 20,
  attempted: 7,
  regressed: 1,
  improved: 0,
  unchanged: 5,
  failed: 0,
};

/** A batch of replays with its progress. */
export const ReplayBatchLine = component(
  'ReplayBatch',
  z.strictObject({
    run_id: z.string(),
    kind: z.enum(['step', 'chain']),
    /** Of a chain its first step. */
    step_name: z.string(),
    /** Of a chain; null for a batch of one step, as is its last step. */
    pipeline_name: NullableText,
    to_step: NullableText,
    /** Of a chain what its first step changes. */
    candidate: CandidateView,
    /** What changes, by step. */
    candidates: z.record(z.string(), CandidateView),
    source: z.enum(REPLAY_SOURCES),
    status: z.enum(RUN_STATUSES),
    triggered_at: Time,
    completed_at: Time.nullable(),
    /** Executions, or runs of a chain. */
    samples: z.number(),
    /** Samples that were replayed, or found to be unreplayable. */
    attempted: z.number(),
    /** Answers that a mark, a check or the judge finds worse than the recorded one, better, or as good. */
    regressed: z.number(),
    improved: z.number(),
    unchanged: z.number(),
    /** Candidates that failed to answer. */
    failed: z.number(),
  }),
  BATCH,
);
export type ReplayBatchLine = z.infer<typeof ReplayBatchLine>;

export const ReplayBatchList = component('ReplayBatchList', z.strictObject({ replays: z.array(ReplayBatchLine) }), {
  replays: [BATCH],
});
export type ReplayBatchList = z.infer<typeof ReplayBatchList>;

/** The batch goes on by itself; its report tells how far it is. */
export const ReplayStarted = component(
  'ReplayStarted',
  z.strictObject({ status: z.literal('accepted'), run_id: z.string() }),
  { status: 'accepted', run_id: RUN_ID },
);
export type ReplayStarted = z.infer<typeof ReplayStarted>;

export function replayBatchLine(batch: ListedBatch, verdict: BatchVerdict): ReplayBatchLine {
  const { replay } = batch;
  const isChain = replay.kind === 'chain';
  const step = isChain ? replay.fromStep : replay.stepName;
  const changes = isChain ? replay.candidate : { [step]: replay.candidate };
  const candidates = Object.fromEntries(Object.entries(changes).map(([name, one]) => [name, candidateView(one)]));
  return viewOf(
    ReplayBatchLine,
    { ...batch, ...verdict, kind: replay.kind, pipelineName: isChain ? replay.pipelineName : null },
    {
      step_name: step,
      to_step: isChain ? replay.toStep : null,
      source: batch.source as ReplaySource,
      candidate: candidates[step] ?? {},
      candidates,
    },
  );
}
