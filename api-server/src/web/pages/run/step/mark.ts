import { exactTime } from '../../format.ts';
import type { Mark } from '../../../../service/views/feedback.ts';

export const OUTCOMES = [
  { value: 'correct', label: 'Correct', icon: 'check', key: 'y' },
  { value: 'partial', label: 'Partial', icon: 'half', key: 'p' },
  { value: 'incorrect', label: 'Incorrect', icon: 'cross', key: 'n' },
] as const;

/** What the form sends in place of an outcome to take the mark back. */
export const WITHDRAW = 'withdraw';

export const isOutcome = (value: unknown): value is Mark['outcome'] =>
  OUTCOMES.some((outcome) => outcome.value === value);

/** The three buttons of a mark, and the one that withdraws it; `keys`: the keys y, p and n act on this form. */
export function markView(input: {
  mark: Mark | null;
  step: string | null;
  operator: boolean;
  action: string;
  keys?: boolean;
}) {
  const { mark } = input;
  const by = mark?.submitted_by ? ` by ${mark.submitted_by}` : '';
  return {
    action: input.action,
    step: input.step,
    keys: input.keys ?? false,
    operator: input.operator,
    subject: input.step === null ? 'run' : 'step',
    outcomes: OUTCOMES.map((outcome) => ({ ...outcome, pressed: mark?.outcome === outcome.value })),
    notes: mark?.notes ?? '',
    here: null,
    present:
      mark === null
        ? null
        : { withdraw: WITHDRAW, title: `Marked ${mark.outcome}${by} on ${exactTime(mark.submitted_at)}` },
  };
}
