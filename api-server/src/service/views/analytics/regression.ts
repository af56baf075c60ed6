import { z } from 'zod';
import { changeOf, MEMBER_STATES, regressionFigures } from '../../../analytics/regression.ts';
import { OUTCOMES } from '../../../runs/state/model.ts';
import type { RegressionSample } from '../../../store/aggregates/regression-rows.ts';
import { type Regression, REGRESSION_STATUSES } from '../../../store/tables/replay/regressions.ts';
import { FRESH_SOURCES, freshLabel, replayedMember } from './regression-members.ts';
import { component, NullableNumber, NullableText, Time, viewOf } from '../answer.ts';
export { LABEL_OF, meanLabel } from '../../../analytics/accuracy.ts';

const LINE = {
  id: '01a1febe-0c00-7a11-8f00-8e11a3329cb6',
  set_id: '01a1febd-9c00-7a11-8f00-8e11a3329cb6',
  fire_at: '2026-11-03T02:00:00.000Z',
  status: 'completed' as const,
  run_id: '01a1febe-0c01-7a11-8f00-8e11a3329cb6',
  started_at: '2026-11-03T02:00:00.412Z',
  completed_at: '2026-11-03T02:01:40.000Z',
  n_members: 2,
  n_graded: 2,
  n_regressed: 1,
  n_improved: 0,
  n_unreplayable: 0,
  n_divergences: 0,
  baseline_accuracy: 1,
  fresh_accuracy: 0.5,
  alert:
    '1 of 2 members regressed. Accuracy of the 2 graded members fell by 50.0 percentage points, from 100.0% to 50.0%.',
  error: null,
};

/** One scheduled replay of a golden set (Orchestration 4.6); figures are null until it has ended. */
export const RegressionLine = component(
  'Regression',
  z.strictObject({
    id: z.string(),
    set_id: z.string(),
    /** When the schedule asked for it. */
    fire_at: Time,
    status: z.enum(REGRESSION_STATUSES),
    /** The run that holds the fresh answers. */
    run_id: NullableText,
    started_at: Time,
    completed_at: Time.nullable(),
    n_members: z.number(),
    n_graded: NullableNumber,
    n_regressed: NullableNumber,
    n_improved: NullableNumber,
    n_unreplayable: NullableNumber,
    n_divergences: NullableNumber,
    /** Mean of the pinned labels. */
    baseline_accuracy: NullableNumber,
    /** Mean label of the graded fresh answers. */
    fresh_accuracy: NullableNumber,
    /** Why an alert was sent; null where none was. */
    alert: NullableText,
    /** Why it crashed. */
    error: NullableText,
  }),
  LINE,
);
export type RegressionLine = z.infer<typeof RegressionLine>;

const ROW = {
  step_id: '01a1febd-87d9-8c15-84a0-8e11a3329cb6',
  run_id: '01a1febd-87d9-73c1-984a-8e11a3329cb6',
  pinned_outcome: 'correct' as const,
  state: 'graded' as const,
  fresh_outcome: 'incorrect' as const,
  fresh_label_source: 'judge' as const,
  change: 'regressed' as const,
  current_outcome: 'correct' as const,
  reason: 'The fresh answer blames the network.',
  candidate_step_name: 'investigate/0',
  candidate_summary: 'The network is slow.',
};

const RegressionMember = z.strictObject({
  /** Of the recorded execution; `run_id` is null where it is gone. */
  step_id: NullableText,
  run_id: NullableText,
  pinned_outcome: z.enum(OUTCOMES),
  state: z.enum(MEMBER_STATES),
  fresh_outcome: z.enum(OUTCOMES).nullable(),
  fresh_label_source: z.enum(FRESH_SOURCES).nullable(),
  change: z.enum(['regressed', 'improved', 'same']).nullable(),
  current_outcome: z.enum(OUTCOMES).nullable(),
  /** Of the judge, of a failed answer, or why the member is unreplayable. */
  reason: NullableText,
  /** The step of the run that holds the fresh answer. */
  candidate_step_name: z.string(),
  candidate_summary: NullableText,
});

/** A replay with its members; figures and labels as they are now, marks of people included. */
export const RegressionReport = component(
  'RegressionReport',
  RegressionLine.extend({
    golden_set: z.string(),
    step_name: z.string(),
    /** Members whose recorded execution has another label now. */
    label_divergences: z.array(
      z.strictObject({ step_id: NullableText, pinned_outcome: z.enum(OUTCOMES), current_outcome: z.enum(OUTCOMES) }),
    ),
    /** False where retention removed the run with the fresh answers. */
    available: z.boolean(),
    rows: z.array(RegressionMember),
  }),
  {
    ...LINE,
    golden_set: 'checkout-triage',
    step_name: 'investigate',
    label_divergences: [],
    available: true,
    rows: [ROW],
  },
);
export type RegressionReport = z.infer<typeof RegressionReport>;

const SCHEDULE = {
  golden_set: 'checkout-triage',
  cron: '0 2 * * *',
  next_at: '2026-11-04T02:00:00.000Z',
  refused: null,
  judged: true,
};

/** An entry of `replay.regression`. */
export const RegressionSchedule = component(
  'RegressionSchedule',
  z.strictObject({
    golden_set: z.string(),
    cron: z.string(),
    /** Null while the entry is refused. */
    next_at: Time.nullable(),
    /** Why the entry is not registered; null where it is. */
    refused: NullableText,
    /** False without `replay.judge`: then only failed checks and marks of people are labels. */
    judged: z.boolean(),
  }),
  SCHEDULE,
);
export type RegressionSchedule = z.infer<typeof RegressionSchedule>;

export const RegressionList = component(
  'RegressionList',
  z.strictObject({ schedule: RegressionSchedule.nullable(), regressions: z.array(RegressionLine) }),
  { schedule: SCHEDULE, regressions: [LINE] },
);
export type RegressionList = z.infer<typeof RegressionList>;

export const regressionView = (regression: Regression): RegressionLine => viewOf(RegressionLine, regression);

export function regressionReportView(
  regression: Regression,
  { name, stepName }: { name: string; stepName: string },
  samples: readonly RegressionSample[] | null,
): RegressionReport {
  const rows = (samples ?? []).map(memberView);
  const ended = samples !== null && regression.status === 'completed';
  const figures = ended ? regressionFigures(samples.map(replayedMember)) : {};
  return viewOf(
    RegressionReport,
    { ...regression, ...figures },
    {
      golden_set: name,
      step_name: stepName,
      available: samples !== null,
      label_divergences: rows.flatMap(({ step_id, pinned_outcome, current_outcome }) =>
        current_outcome !== null && current_outcome !== pinned_outcome
          ? [{ step_id, pinned_outcome, current_outcome }]
          : [],
      ),
      rows,
    },
  );
}

function memberView(sample: RegressionSample): z.infer<typeof RegressionMember> {
  const member = replayedMember(sample);
  return {
    step_id: sample.stepId,
    run_id: sample.sourceRunId,
    pinned_outcome: member.pinned,
    state: member.state,
    fresh_outcome: member.fresh,
    fresh_label_source: freshLabel(sample)?.source ?? null,
    change: changeOf(member),
    current_outcome: member.current,
    reason: sample.reason ?? sample.candidate?.error ?? sample.judgement?.reason ?? null,
    candidate_step_name: sample.candidateStep,
    candidate_summary: sample.candidate?.summary ?? null,
  };
}
