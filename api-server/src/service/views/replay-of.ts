import { z } from 'zod';
import { type Replay, REPLAY_MODES } from '../../runs/state/replay.ts';
import { bucketSourceView, CandidateView, candidateView, ReplayBucketView } from './replay.ts';

/** What the run of a batch replays (Orchestration 4.6, rule 5). */
export const ReplayOf = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('step'),
      step_name: z.string(),
      mode: z.enum(REPLAY_MODES),
      source_bucket: ReplayBucketView.nullable(),
      candidate: CandidateView,
      k: z.number(),
    }),
    z.strictObject({
      kind: z.literal('chain'),
      from_step: z.string(),
      to_step: z.string(),
      mode: z.literal('rerender'),
      candidate: z.record(z.string(), CandidateView),
      k: z.number(),
    }),
  ])
  .meta({ id: 'ReplayOf' });
export type ReplayOf = z.infer<typeof ReplayOf>;

export function replayOfView(replay: Replay): ReplayOf {
  const { k } = replay;
  if (replay.kind === 'step') {
    const { kind, stepName: step_name, mode, bucket, candidate } = replay;
    return {
      kind,
      step_name,
      mode,
      source_bucket: bucket && bucketSourceView(bucket),
      candidate: candidateView(candidate),
      k,
    };
  }
  const { kind, fromStep: from_step, toStep: to_step, candidate } = replay;
  const candidates = Object.entries(candidate).map(([name, one]) => [name, candidateView(one)]);
  return { kind, from_step, to_step, mode: 'rerender', candidate: Object.fromEntries(candidates), k };
}
