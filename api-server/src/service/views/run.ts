import { createRest } from '@signalbox/crds/process/rest';
import { z } from 'zod';
import { tidy } from '../../analytics/tidy.ts';
import { NotificationLine, notificationLine } from './notification.ts';
import { OUTCOMES, type Run, RUN_STATUSES, STAGES } from '../../runs/state/model.ts';
import type { RunResult as StoredResult } from '../../runs/state/result.ts';
import type { RunDetail as StoredRun } from '../../store/tables/run-detail.ts';
import type { LastRun } from '../../store/tables/last-runs.ts';
import type { RunList } from '../../store/tables/list-runs.ts';
import { ATTENTION_STATES } from '../../runs/state/attention.ts';
import { LIFE, lifeView, NO_LIFE } from './attention.ts';
import { AnyObject, component, iso, NullableNumber, NullableText, secondsBetween, Time, viewOf } from './answer.ts';
import { cachedBy } from '../../runs/cost/cost.ts';
import { RunFeedback, runFeedbackView } from './feedback.ts';
import { ReplayOf, replayOfView } from './replay-of.ts';
import { RESULT, RunResult, resultView } from './result.ts';
import { StepDetail, stepView } from './step.ts';

/** An example of a run in a list. */
export const LINE = {
  id: '01a1febd-87d9-73c1-984a-8e11a3329cb6',
  pipeline_name: 'checkout-errors',
  source: 'alert_router',
  status: 'completed',
  team: 'payments',
  stage: 'production',
  triggered_at: '2026-11-02T09:14:00.000Z',
  completed_at: '2026-11-02T09:14:21.400Z',
  severity: 'critical',
  summary: 'Checkout answers 5xx',
  trust: 0.86,
  threshold: 0.75,
  duration_seconds: 21.4,
  cost: 0.0132,
  unpriced_steps: 0,
  warning_count: 0,
  input_tokens: 4211,
  output_tokens: 388,
  current_step: null,
  waiting_on: null,
  feedback_outcome: null,
  attention: null,
  assignee: null,
  error: null,
  result: RESULT,
} as const;

/** One entry of `GET /runs`: the fields of Orchestration 4.2, and what a dense list shows beside them. */
export const RunLine = component(
  'RunLine',
  z.strictObject({
    id: z.string(),
    pipeline_name: z.string(),
    source: z.string(),
    status: z.enum(RUN_STATUSES),
    team: NullableText,
    stage: z.enum(STAGES),
    triggered_at: Time,
    completed_at: Time.nullable(),
    severity: NullableText,
    summary: NullableText,
    /** Of the last gated step, with the threshold that it met. */
    trust: NullableNumber,
    threshold: NullableNumber,
    duration_seconds: NullableNumber,
    /** Null when unpriced. */
    cost: NullableNumber,
    unpriced_steps: z.number(),
    /** Warnings in the trust reports of its steps. */
    warning_count: z.number(),
    input_tokens: z.number(),
    output_tokens: z.number(),
    current_step: NullableText,
    /** `human`, or `run:<id>` of the sub-run that waits. */
    waiting_on: NullableText,
    feedback_outcome: z.enum(OUTCOMES).nullable(),
    /** Null for a run that needs no person. */
    attention: z.enum(ATTENTION_STATES).nullable(),
    assignee: NullableText,
    /** Why it did not complete, in a list at most 300 characters; `step` is null where the run itself failed. */
    error: z.strictObject({ step: NullableText, message: z.string() }).nullable(),
    /** Null where no agent has answered. */
    result: RunResult.nullable(),
  }),
  LINE,
);
export type RunLine = z.infer<typeof RunLine>;

export const RunsPage = component(
  'RunsPage',
  z.strictObject({
    runs: z.array(RunLine),
    limit: z.number(),
    offset: z.number(),
    total: z.number(),
    /** Set where counting stopped: there are at least this many. */
    total_is_lower_bound: z.literal(true).optional(),
    /** For `cursor` of the next page; null on the last one. */
    next_cursor: NullableText,
  }),
  { runs: [LINE], limit: 50, offset: 0, total: 1, next_cursor: null },
);
export type RunsPage = z.infer<typeof RunsPage>;

const { cost: _cost, unpriced_steps: _unpriced, ...HEAD } = LINE;

const Totals = RunLine.pick({
  input_tokens: true,
  output_tokens: true,
  cost: true,
  unpriced_steps: true,
  duration_seconds: true,
});

/** Input tokens that providers had cached; null where nobody said. */
const RunTotals = Totals.extend({ cached_input_tokens: NullableNumber });
const SubRunTotals = Totals.omit({ duration_seconds: true });

/** `GET /runs/{id}` (Orchestration 2.1, 2.2). */
export const RunDetail = component(
  'RunDetail',
  RunLine.extend({
    fingerprint: NullableText,
    parent_run_id: NullableText,
    rerun_of: NullableText,
    definition_hash: z.string(),
    /** The normalised context (Orchestration 2.4); `raw` only with `?include=raw`. */
    context: AnyObject,
    totals: RunTotals,
    /** With those of its ended sub-runs, and of theirs. */
    totals_with_sub_runs: SubRunTotals,
    feedback: RunFeedback.nullable(),
    /** Runs that steps of this one started. */
    children: z.array(RunLine),
    /** Runs that repeat this one, the newest first. */
    reruns: z.array(RunLine),
    /** The messages about it, newest first, and whether they arrived. */
    notifications: z.array(NotificationLine),
    ...LIFE,
    /** Of the run of a batch of replays. */
    replay_of: ReplayOf.optional(),
    steps: z.array(StepDetail),
  }),
  {
    ...LINE,
    fingerprint: 'a1b2c3d4e5f60718:firing',
    parent_run_id: null,
    rerun_of: null,
    definition_hash: '9f86d081884c',
    context: { source: 'alert_router', severity: 'critical', labels: { service: 'checkout' } },
    totals: {
      input_tokens: 4211,
      output_tokens: 388,
      cached_input_tokens: 1024,
      cost: 0.0132,
      unpriced_steps: 0,
      duration_seconds: 21.4,
    },
    totals_with_sub_runs: { input_tokens: 4211, output_tokens: 388, cost: 0.0132, unpriced_steps: 0 },
    feedback: null,
    children: [],
    reruns: [],
    notifications: [],
    ...NO_LIFE,
    steps: [],
  },
);
export type RunDetail = z.infer<typeof RunDetail>;

export const Cancelled = component(
  'Cancelled',
  z.strictObject({ status: z.literal('cancelled'), run_id: z.string() }),
  { status: 'cancelled', run_id: HEAD.id },
);
export type Cancelled = z.infer<typeof Cancelled>;

export const RerunStarted = component(
  'RerunStarted',
  z.strictObject({
    status: z.enum(['accepted', 'queued']),
    run_id: z.string(),
    original_run_id: z.string(),
    from_step: NullableText,
    /** How many results of earlier steps the new run begins with. */
    prior_steps_loaded: z.number(),
  }),
  {
    status: 'accepted',
    run_id: '01a1febe-0d12-7a30-bd62-26d4a1f0c7aa',
    original_run_id: HEAD.id,
    from_step: 'investigate',
    prior_steps_loaded: 1,
  },
);
export type RerunStarted = z.infer<typeof RerunStarted>;

/** One line of a run's log, as in the live stream (Orchestration 6). */
export const LogLine = z
  .looseObject({
    seq: z.number().optional(),
    ts: Time,
    level: z.string(),
    event: z.string(),
    msg: z.string(),
    step_name: z.string().optional(),
  })
  .meta({ id: 'LogLine' });
export type LogLine = z.infer<typeof LogLine>;

const lasted = (run: Run) => ({ duration_seconds: secondsBetween(run.triggeredAt, run.completedAt) });

/** By the ids of their runs. */
export type Results = ReadonlyMap<string, StoredResult>;

const resultOf = ({ id }: Run, results: Results) => {
  const result = results.get(id);
  return { result: result === undefined ? null : resultView(result) };
};

export const runLine = (run: Run, results: Results): RunLine =>
  viewOf(RunLine, run, { ...lasted(run), ...resultOf(run, results) });

/** The newest run of a pipeline, without what it found. */
export type NewestRun = Pick<RunLine, 'id' | 'status' | 'source' | 'waiting_on' | 'triggered_at'>;

export const newestRun = ({ id, status, source, waitingOn, triggeredAt }: LastRun): NewestRun => ({
  id,
  status,
  source,
  waiting_on: waitingOn,
  triggered_at: iso(triggeredAt),
});

interface ShownPage {
  limit: number;
  offset: number;
  results: Results;
}

export const runsPageView = (list: RunList, { limit, offset, results }: ShownPage): RunsPage => ({
  runs: list.runs.map((run) => runLine(run, results)),
  limit,
  offset,
  total: list.total,
  ...(list.totalIsLowerBound ? { total_is_lower_bound: true as const } : {}),
  next_cursor: list.next === null ? null : `r${list.next}`,
});

/** A run may have thousands of steps: between two of them other work has its turn. */
export async function runDetailView(found: StoredRun, results: Results): Promise<RunDetail> {
  const steps: StepDetail[] = [];
  const rest = createRest();
  for (const step of found.steps) {
    await rest();
    steps.push(stepView(step, found.stepFeedback.get(step.stepName) ?? null));
  }
  return viewOf(RunDetail, found.run, {
    ...lasted(found.run),
    ...resultOf(found.run, results),
    context: contextView(found.context, found.raw),
    totals: viewOf(RunTotals, found.run, { ...lasted(found.run), cached_input_tokens: cachedBy(found.steps) }),
    totals_with_sub_runs: withSubRuns(found),
    feedback: found.feedback && runFeedbackView(found.feedback),
    children: found.children.map((run) => runLine(run, results)),
    reruns: found.reruns.map((run) => runLine(run, results)),
    notifications: found.notifications.map(notificationLine),
    ...lifeView(found.attention),
    ...(found.replay ? { replay_of: replayOfView(found.replay) } : {}),
    steps,
  });
}

function withSubRuns({ run, below }: StoredRun): z.infer<typeof SubRunTotals> {
  if (!below) return viewOf(SubRunTotals, run, {});
  return {
    input_tokens: run.inputTokens + below.inputTokens,
    output_tokens: run.outputTokens + below.outputTokens,
    cost: run.cost === null && below.cost === 0 ? null : tidy((run.cost ?? 0) + below.cost),
    unpriced_steps: run.unpricedSteps + below.unpricedSteps,
  };
}

/** The stored context has the words of the domain; `raw` only where it was asked for. */
export function contextView({ receivedAt, ...context }: Record<string, unknown>, raw?: unknown) {
  const received = typeof receivedAt === 'number' ? { received_at: iso(receivedAt) } : {};
  return { ...context, ...received, ...(raw === undefined ? {} : { raw }) };
}
