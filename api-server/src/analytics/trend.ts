import { costOf, sumOf } from './money.ts';
import type { RunSum, StepSum } from './sums.ts';
import { tidy } from './tidy.ts';

interface TrendFacts {
  /** By buckets of a day. */
  runs: readonly RunSum[];
  steps: readonly StepSum[];
}

export interface Days {
  /** Beginnings of the days in UTC, the oldest first. */
  days: readonly number[];
  currency: string;
}

/** Runs, escalations, failures and cost of each day; the cost is null where nothing was priced. */
export function trendOf({ runs, steps }: TrendFacts, { days, currency }: Days) {
  const count = (of: readonly RunSum[], statuses?: readonly string[]) =>
    sumOf(of, (sum) => (statuses === undefined || statuses.includes(sum.status) ? sum.runs : 0));
  return days.map((from) => {
    const own = runs.filter(({ bucket }) => bucket === from);
    const work = steps.filter(({ bucket }) => bucket === from);
    return tidy({
      from,
      runs: count(own),
      escalated: count(own, ['escalated']),
      failed: count(own, ['failed', 'aborted']),
      cost: costOf(work, currency).total,
    });
  });
}
export type TrendDay = ReturnType<typeof trendOf>[number];
