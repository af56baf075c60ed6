import { z } from 'zod';
import { STAGES } from '../../../runs/state/model.ts';
import type { UnmarkedStep } from '../../../store/aggregates/unmarked-steps.ts';
import { component, NullableNumber, NullableText, Time, viewOf } from '../answer.ts';

/** An answer of an agent that has no label yet, with as much as one needs to judge it. */
export const UnmarkedLine = z
  .strictObject({
    run_id: z.string(),
    step_name: z.string(),
    pipeline_name: z.string(),
    stage: z.enum(STAGES),
    run_summary: NullableText,
    source: z.string(),
    agent: z.string(),
    status: z.string(),
    trust: NullableNumber,
    threshold: NullableNumber,
    /** Why it passed its gate or not. */
    sentence: NullableText,
    summary: NullableText,
    /** What the agent said beside its summary; `{"cut": "…"}` where it is longer than 16 KiB. */
    output: z.unknown(),
    completed_at: Time,
  })
  .meta({ id: 'UnmarkedLine' });
export type UnmarkedLine = z.infer<typeof UnmarkedLine>;

/** `more`: older ones wait beyond the limit. */
export const MarkingQueue = component(
  'MarkingQueue',
  z.strictObject({ steps: z.array(UnmarkedLine), more: z.boolean() }),
  {
    steps: [
      {
        run_id: '01a1febd-87d9-73c1-984a-8e11a3329cb6',
        step_name: 'investigate',
        pipeline_name: 'checkout-errors',
        stage: 'production',
        run_summary: 'Checkout error rate above 5%',
        source: 'alert_router',
        agent: 'sre-triage',
        status: 'completed',
        trust: 0.86,
        threshold: 0.75,
        sentence: 'Trust 0.86 reaches the threshold 0.75.',
        summary: 'The connection pool is exhausted.',
        output: { action: 'restart' },
        completed_at: '2026-11-02T09:30:00.000Z',
      },
    ],
    more: false,
  },
);
export type MarkingQueue = z.infer<typeof MarkingQueue>;

export const markingQueueView = ({ steps, more }: { steps: UnmarkedStep[]; more: boolean }): MarkingQueue => ({
  steps: steps.map(line),
  more,
});

const line = ({ id: _, trustReport, ...step }: UnmarkedStep): UnmarkedLine =>
  viewOf(UnmarkedLine, step, {
    trust: trustReport?.trust ?? null,
    threshold: trustReport?.threshold ?? null,
    sentence: trustReport?.sentence ?? null,
  });
