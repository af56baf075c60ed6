import { age, duration, exactTime, money, score, secondsBetween, shorten } from '../format.ts';
import { attentionLook } from '../attention-look.ts';
import { paths } from '../paths.ts';
import { isActive, severityTone, statusLook, type StatusLook } from '../status.ts';
import { resultLine } from './result/view.ts';
import type { RunLine } from '../../../service/views/run.ts';

export interface TrustBar {
  known: boolean;
  value: string;
  /** Widths and places in a bar of 56 px. */
  fill: number;
  tick: number | null;
  tone: StatusLook['tone'];
  title: string;
}

const BAR = 56;

/** Trust and threshold as a small bar; without a trust, the reason. */
export function trustBar(trust: number | null, threshold: number | null, active: boolean): TrustBar {
  const tick = threshold === null ? null : Math.round(threshold * BAR) - 1;
  if (trust === null) {
    const title = active ? 'No step was weighed at a gate yet' : 'No step was weighed at a gate';
    return { known: false, value: '–', fill: 0, tick, tone: 'quiet', title };
  }
  const passed = threshold === null || trust >= threshold;
  const against = threshold === null ? 'no threshold' : `needs ${score(threshold)}`;
  return {
    known: true,
    value: score(trust, threshold),
    fill: Math.round(Math.min(1, Math.max(0, trust)) * BAR),
    tick,
    tone: threshold === null ? 'quiet' : passed ? 'good' : 'escalated',
    title: `Trust ${score(trust, threshold)}, ${against}`,
  };
}

export interface CostCell {
  text: string;
  title: string;
  unpriced: boolean;
}

/** The cost of a run, or a dash with the reason where it is unpriced. */
export function costCell(cost: number | null, unpricedSteps: number, currency: string): CostCell {
  if (cost === null) {
    const why =
      unpricedSteps > 0
        ? `${plural(unpricedSteps, 'step')} used a model without a price`
        : 'No use of a model was reported';
    return { text: '–', title: why, unpriced: true };
  }
  if (unpricedSteps > 0) {
    return {
      text: `≥ ${money(cost, currency)}`,
      title: `${plural(unpricedSteps, 'step')} without a price not included`,
      unpriced: false,
    };
  }
  return { text: money(cost, currency), title: `${cost} ${currency}`, unpriced: false };
}

export const plural = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;

/** The title of a run: its summary, or its source. */
export const runTitle = (run: Pick<RunLine, 'summary' | 'source'>): string =>
  run.summary !== null && run.summary.trim() !== '' ? run.summary : `Run from ${run.source} without a summary`;

const MARKS = {
  correct: { icon: 'check', tone: 'good', word: 'Marked correct' },
  partial: { icon: 'half', tone: 'wait', word: 'Marked partial' },
  incorrect: { icon: 'cross', tone: 'bad', word: 'Marked incorrect' },
} as const;
const markOf = ({ feedback_outcome: outcome }: RunLine) => (outcome === null ? null : MARKS[outcome]);

/** A row of the list of runs. */
export function runRow(run: RunLine, at: { now: number; currency: string }) {
  const live = run.status === 'running' || run.status === 'queued';
  return {
    id: run.id,
    href: paths.run(run.id),
    markPath: paths.runFeedback(run.id),
    live,
    status: statusLook(run.status, run.waiting_on),
    pipeline: run.pipeline_name,
    testing: run.stage === 'testing',
    summary: runTitle(run),
    short: shorten(runTitle(run), 80),
    severity: run.severity === null ? null : { word: run.severity, tone: severityTone(run.severity) },
    trust: trustBar(run.trust, run.threshold, isActive(run.status)),
    duration: duration(secondsBetween(run.triggered_at, run.completed_at ?? (live ? at.now : null))),
    cost: costCell(run.cost, run.unpriced_steps, at.currency),
    result: resultLine(run),
    mark: markOf(run),
    outcome: run.feedback_outcome ?? '',
    attention: run.attention === null ? null : attentionLook(run.attention, run.assignee),
    warnings: run.warning_count === 0 ? null : plural(run.warning_count, 'warning'),
    since: run.triggered_at,
    exact: exactTime(run.triggered_at),
    age: age(run.triggered_at, at.now),
  };
}
export type RunRow = ReturnType<typeof runRow>;
