import { z } from 'zod';
import type { ChainStep, GradedChain } from '../../analytics/replay/chain.ts';
import { compareUse, summarize } from '../../analytics/replay/summary.ts';
import { RUN_STATUSES } from '../../runs/state/model.ts';
import { type ChainReplay, REPLAY_SOURCES, type ReplaySource } from '../../runs/state/replay.ts';
import { component, NullableNumber, NullableText, Time, viewOf } from './answer.ts';
import { type BatchRun, CandidateView, candidateView, UsedView, usedView } from './replay.ts';
import { ReplayRow, replayRow, ROW } from './replay-row.ts';

/** A step of the range over all recorded runs; accuracies compare it with its own recorded labels. */
const ChainStepView = z
  .strictObject({
    step_name: z.string(),
    /** False for a step with effects, which was not executed and answered what was recorded. */
    replayed: z.boolean(),
    executor: z.string(),
    /** Shell checks of the step, which a replay of a chain does not run. */
    checks_not_run: z.array(z.string()),
    recorded_distribution: z.strictObject({ correct: z.number(), partial: z.number(), incorrect: z.number() }),
    recorded_accuracy: NullableNumber,
    candidate_accuracy_so_far: NullableNumber,
    candidate_graded_n: z.number(),
    candidate_total_n: z.number(),
    regressed: z.number(),
    improved: z.number(),
    unchanged: z.number(),
    used: z.strictObject({ recorded: UsedView, candidate: UsedView }),
  })
  .meta({ id: 'ReplayChainStep' });

const ChainRun = z
  .strictObject({
    source_run_id: NullableText,
    /** `partial`: a step failed and the later ones were not replayed. */
    result: z.enum(['completed', 'partial', 'unreplayable', 'pending']),
    reason: NullableText,
    /** The replayed steps, in their order. */
    steps: z.array(ReplayRow.extend({ step_name: z.string() })),
  })
  .meta({ id: 'ReplayChainRun' });

const USED = { n: 1, input_tokens: 900, output_tokens: 80, cost: null, unpriced: 1, duration_seconds: 3.1 };

/** The example of a report. */
export const CHAIN_REPORT = {
  run_id: ROW.candidate.run_id,
  kind: 'chain' as const,
  source: 'replay' as const,
  status: 'completed' as const,
  triggered_at: '2026-11-02T09:30:00.000Z',
  completed_at: '2026-11-02T09:30:12.000Z',
  pipeline_name: 'checkout-errors',
  from_step: 'investigate',
  to_step: 'investigate',
  mode: 'rerender' as const,
  candidate: { investigate: { model: 'claude-sonnet' } },
  k: 20,
  unreplayable_count: 0,
  steps: [
    {
      step_name: 'investigate',
      replayed: true,
      executor: 'gateway',
      checks_not_run: [],
      recorded_distribution: { correct: 1, partial: 0, incorrect: 0 },
      recorded_accuracy: 1,
      candidate_accuracy_so_far: null,
      candidate_graded_n: 0,
      candidate_total_n: 1,
      regressed: 0,
      improved: 0,
      unchanged: 0,
      used: { recorded: USED, candidate: USED },
    },
  ],
  runs: [
    {
      source_run_id: ROW.candidate.run_id,
      result: 'completed' as const,
      reason: null,
      steps: [{ ...ROW, step_name: 'investigate' }],
    },
  ],
};

/** What a replay of a range of steps came to (Orchestration 4.6). There is no label of a whole chain. */
export const ReplayChainReport = component(
  'ReplayChainReport',
  z.strictObject({
    run_id: z.string(),
    kind: z.literal('chain'),
    source: z.enum(REPLAY_SOURCES),
    status: z.enum(RUN_STATUSES),
    triggered_at: Time,
    completed_at: Time.nullable(),
    pipeline_name: z.string(),
    from_step: z.string(),
    to_step: z.string(),
    mode: z.literal('rerender'),
    candidate: z.record(z.string(), CandidateView),
    k: z.number(),
    unreplayable_count: z.number(),
    steps: z.array(ChainStepView),
    runs: z.array(ChainRun),
  }),
  CHAIN_REPORT,
);
export type ReplayChainReport = z.infer<typeof ReplayChainReport>;

export interface ChainFacts {
  run: BatchRun;
  replay: ChainReplay;
  steps: readonly (ChainStep & { executor: string; checksNotRun: string[] })[];
  chains: readonly GradedChain[];
}

export function replayChainReport({ run, replay, steps, chains }: ChainFacts): ReplayChainReport {
  return viewOf(
    ReplayChainReport,
    { ...run, ...replay, mode: 'rerender' as const },
    {
      run_id: run.id,
      source: run.source as ReplaySource,
      candidate: Object.fromEntries(Object.entries(replay.candidate).map(([name, one]) => [name, candidateView(one)])),
      unreplayable_count: chains.filter(({ result }) => result === 'unreplayable').length,
      steps: steps.map((step) => stepView(step, chains)),
      runs: chains.map(({ sample, result, steps: graded }) => ({
        source_run_id: sample.sourceRunId,
        result,
        reason: sample.reason,
        steps: graded.flatMap(({ name, graded: row }) => (row ? [{ ...replayRow(row), step_name: name }] : [])),
      })),
    },
  );
}

function stepView(step: ChainFacts['steps'][number], chains: readonly GradedChain[]): z.infer<typeof ChainStepView> {
  const rows = chains.flatMap(({ steps }) => steps.find(({ name }) => name === step.name)?.graded ?? []);
  const used = compareUse(rows);
  return viewOf(
    ChainStepView,
    { ...summarize(rows), ...step },
    {
      step_name: step.name,
      candidate_total_n: rows.filter(({ candidate }) => candidate !== null).length,
      used: { recorded: usedView(used.recorded), candidate: usedView(used.candidate) },
    },
  );
}
