import { DAY_MS, hourParts, type HourParts, WEEK_MS, type Window } from '../../../analytics/window.ts';
import { type Closed, wholeIn } from './closed-days.ts';

/** Some whole weeks, days or hours; named after the column of their sums. */
export interface Spans<T = 'week' | 'day' | 'hour'> {
  time: T;
  window: Window;
}

/** A window as whole weeks, days and hours and what sticks out of them: together exactly the window. */
export interface SumParts {
  sums: Spans[];
  edges: HourParts['edges'];
}

export function sumParts(window: Window, closed: Closed): SumParts {
  const { hours, edges } = hourParts(window);
  if (hours === null) return { sums: [], edges };
  const found = wholeIn(hours, DAY_MS, closed.days);
  if (found === null) return { sums: [{ time: 'hour', window: hours }], edges };
  const rest = found.rest.map((one) => ({ time: 'hour' as const, window: one }));
  return { sums: [...weeksAndDays(found.whole, closed), ...rest], edges };
}

/** Closed days as weeks and what sticks out of them. */
export function weeksAndDays(days: Window, { weeks }: Closed): Spans<'week' | 'day'>[] {
  const found = wholeIn(days, WEEK_MS, weeks);
  if (found === null) return [{ time: 'day', window: days }];
  return [{ time: 'week', window: found.whole }, ...found.rest.map((window) => ({ time: 'day' as const, window }))];
}
