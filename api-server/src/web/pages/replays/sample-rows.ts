import { indentedJson } from '../../../service/views/approval.ts';
import type { ReplayRow } from '../../../service/views/replay-row.ts';
import type { Budget } from '../diff/budget.ts';
import { score, shorten } from '../format.ts';
import { paths } from '../paths.ts';
import { markView, WITHDRAW } from '../run/step/mark.ts';
import { type StatusLook, statusLook } from '../status.ts';
import { sides, unread } from './sides.ts';
import { labelLook } from './words.ts';

const ORDER = ['regressed', 'failed', 'ungraded', 'improved', 'unchanged', 'open', 'unreplayable'] as const;
type Group = (typeof ORDER)[number];

function groupOf({ status, change }: ReplayRow): Group {
  if (status === 'unreplayable') return 'unreplayable';
  if (change !== null) return change;
  if (status === 'execution_failed') return 'failed';
  return status === 'completed' || status === 'deterministic_failed' ? 'ungraded' : 'open';
}

const LOOKS: Record<Exclude<Group, 'open'>, StatusLook> = {
  regressed: { icon: 'failed', word: 'Regressed', tone: 'bad' },
  failed: { icon: 'failed', word: 'No answer', tone: 'bad' },
  ungraded: { icon: 'pending', word: 'Not graded', tone: 'wait' },
  improved: { icon: 'completed', word: 'Improved', tone: 'good' },
  unchanged: { icon: 'completed', word: 'Unchanged', tone: 'quiet' },
  unreplayable: { icon: 'skipped', word: 'Unreplayable', tone: 'quiet' },
};

const OPEN: ReadonlySet<Group> = new Set(['regressed', 'failed', 'ungraded']);

export interface Shown {
  /** The run of the batch. */
  runId: string;
  operator: boolean;
  /** While it runs the page is asked for again and again, so that it stays small. */
  active: boolean;
  budget: Budget;
  /** The page that a mark leads back to. */
  here: string;
}

export const worstFirst = (rows: readonly ReplayRow[]): ReplayRow[] => rows.toSorted((a, b) => badness(a) - badness(b));

/** The lower, the worse. */
export const badness = (row: ReplayRow): number => ORDER.indexOf(groupOf(row));

export function sampleRow(row: ReplayRow, shown: Shown) {
  const { active, budget } = shown;
  const group = groupOf(row);
  return {
    id: `sample-${row.candidate_step_id ?? row.sample_step_id ?? ''}`,
    look: group === 'open' ? statusLook(row.status) : LOOKS[group],
    step: null as string | null,
    open: OPEN.has(group) && !active,
    text: shorten(row.source_summary ?? answerOf(row), 160),
    said: row.source_summary === null ? null : shorten(answerOf(row), 160),
    recordedLabel: labelLook(row.recorded_label),
    candidateLabel: labelLook(row.candidate_label),
    confidence: confidenceWords(row),
    reason: row.reason && shorten(row.reason, 300),
    judge: judgeWords(row),
    checks: row.deterministic_passed === false ? 'A deterministic check failed, so the label is incorrect.' : null,
    recordedHref: hrefOf(row.recorded),
    candidateHref: hrefOf(row.candidate),
    answers: active ? null : answersOf(row, budget),
    mark: markOf(row, shown),
  };
}

const answerOf = ({ candidate_summary: summary, reason, recorded }: ReplayRow): string =>
  summary ?? reason ?? recorded?.summary ?? 'No answer yet';

const hrefOf = (execution: ReplayRow['recorded']): string | null =>
  execution && paths.run(execution.run_id, { step: execution.step_name });

const UNMARKABLE: ReadonlySet<ReplayRow['status']> = new Set(['running', 'execution_failed', 'pending', 'skipped']);

/** The buttons that mark the candidate, with the mark that a person gave it pressed. */
function markOf({ candidate, status, mark_outcome: outcome }: ReplayRow, { runId, operator, here }: Shown) {
  if (candidate === null || UNMARKABLE.has(status)) return null;
  const view = markView({ mark: null, step: candidate.step_name, operator, action: paths.runFeedback(runId) });
  const outcomes = view.outcomes.map((one) => ({ ...one, pressed: one.value === outcome }));
  const present = outcome === null ? null : { title: `Marked ${outcome}`, withdraw: WITHDRAW };
  return { ...view, outcomes, present, here };
}

function confidenceWords({ recorded, candidate_confidence: now }: ReplayRow): string | null {
  const before = recorded?.confidence ?? null;
  return before === null && now === null ? null : `confidence ${score(before)} → ${score(now)}`;
}

function judgeWords({ judge_verdict: verdict, judge_reason: reason, judge_skipped_reason: skipped }: ReplayRow) {
  if (verdict !== undefined) return `The judge: ${verdict}. ${shorten(reason ?? '', 300)}`;
  return skipped === undefined ? null : (UNJUDGED.get(skipped) ?? `The judge gave no verdict: ${skipped}.`);
}

const UNJUDGED = new Map([
  ['recorded_incorrect', 'The judge was not asked: the recorded answer is marked incorrect.'],
  ['recorded_partial', 'The judge was not asked: the recorded answer is marked partial.'],
  ['recorded_unlabelled', 'The judge was not asked: the recorded answer has no label.'],
  ['deterministic_failed', 'The judge was not asked: a check failed.'],
  ['execution_failed', 'The judge was not asked: there is no answer.'],
  ['unreplayable', 'The judge was not asked: the execution cannot be replayed.'],
  ['judge_timeout', 'The judge did not answer in time.'],
  ['judge_failed', 'The judge failed.'],
  ['judge_invalid', 'The judge answered something that is no verdict.'],
]);

const answerText = (execution: ReplayRow['recorded']): string =>
  execution === null ? '' : indentedJson({ summary: execution.summary, ...execution.output });

const NAMES = ['Recorded answer', 'Answer of the candidate'] as const;

function answersOf({ recorded, candidate }: ReplayRow, budget: Budget) {
  if (recorded === null || candidate === null || (candidate.summary === null && candidate.output === null)) return null;
  if (!budget.hasTime()) return unread(NAMES);
  const texts = [answerText(recorded), answerText(candidate)] as const;
  return texts[0] === texts[1] ? null : sides(NAMES, texts, budget);
}
