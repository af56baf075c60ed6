import { hourParts, type HourParts, type Window } from '../../../analytics/window.ts';
import { daysIn } from './closed-days.ts';

/** A window as whole days, whole hours and what sticks out of them: together exactly the window. */
export interface SumParts {
  days: Window | null;
  hours: Window[];
  edges: HourParts['edges'];
}

export function sumParts(window: Window, closed: number | null): SumParts {
  const { hours, edges } = hourParts(window);
  const found = hours === null ? null : daysIn(hours, closed);
  if (found === null) return { days: null, hours: hours === null ? [] : [hours], edges };
  return { days: found.days, hours: found.rest, edges };
}
