import type { GoldenMemberLine } from '../../../service/views/analytics/golden-set.ts';
import type { StatusLook } from '../status.ts';

/** How a label looks: an icon, a word and a tone together. */
export const OUTCOME_LOOKS: Record<GoldenMemberLine['outcome'], StatusLook> = {
  correct: { icon: 'check', word: 'Correct', tone: 'good' },
  partial: { icon: 'half', word: 'Partial', tone: 'wait' },
  incorrect: { icon: 'cross', word: 'Incorrect', tone: 'bad' },
};
