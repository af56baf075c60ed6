import type { Outcome } from '../runs/state/model.ts';
import type { Label } from './calibration.ts';

/** What an outcome is worth. */
export const LABEL_OF: Readonly<Record<Outcome, Label>> = { correct: 1, partial: 0.5, incorrect: 0 };

/** What is known of one execution. */
export interface Judged {
  /** The mark of the step itself, and that of its run. */
  stepOutcome: Outcome | null;
  runOutcome: Outcome | null;
  checkFailed: boolean;
}

/** A step's own mark first, then a failed check, then the mark of its run (Orchestration 3); `OUTCOME` says the same in SQL. */
export const outcomeOf = ({ stepOutcome, checkFailed, runOutcome }: Judged): Outcome | null =>
  stepOutcome ?? (checkFailed ? 'incorrect' : runOutcome);

/** What the labels are of. */
export type Counted = 'runs' | 'executions';

type Labels = readonly { outcome: Outcome; n: number }[];

/**
 * The accuracy wherever it is shown: `mean_label` is the mean of the labels, of which a partial one counts half (0..1), and
 * `correct_pct` the percentage of entirely correct ones; both null without any.
 */
export function accuracyOf(counts: Counted, labels: Labels) {
  const of = (outcome: Outcome) => labels.reduce((sum, label) => sum + (label.outcome === outcome ? label.n : 0), 0);
  const [correct, partial, incorrect] = [of('correct'), of('partial'), of('incorrect')];
  const total = correct + partial + incorrect;
  const correctPct = total === 0 ? null : (100 * correct) / total;
  return {
    counts,
    correct,
    partial,
    incorrect,
    total,
    correct_pct: correctPct,
    mean_label: meanOf({ correct, partial, incorrect }),
  };
}

/** The mean of so many labels of each outcome; null without any. */
export function meanOf({ correct, partial, incorrect }: Readonly<Record<Outcome, number>>): number | null {
  const total = correct + partial + incorrect;
  const worth = correct * LABEL_OF.correct + partial * LABEL_OF.partial + incorrect * LABEL_OF.incorrect;
  return total === 0 ? null : worth / total;
}

/** The same of labels that were pinned or come from a judge. */
export const meanLabel = (labels: readonly Label[]): number | null => {
  const n = (label: Label) => labels.filter((one) => one === label).length;
  return meanOf({ correct: n(1), partial: n(0.5), incorrect: n(0) });
};
