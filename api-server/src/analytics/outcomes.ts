import { sumOf } from './money.ts';

/** Numbers by status, those that occur. */
export type StatusCounts = Record<string, number>;

/** Neither a success nor a failure: active, cancelled or skipped. */
const WITHOUT_VERDICT: ReadonlySet<string> = new Set(['queued', 'running', 'interrupted', 'cancelled', 'skipped']);

export function statusCounts<T extends { status: string }>(
  items: readonly T[],
  count: (item: T) => number,
): StatusCounts {
  const counts: StatusCounts = {};
  for (const item of items) counts[item.status] = (counts[item.status] ?? 0) + count(item);
  return Object.fromEntries(Object.entries(counts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Completed of all that ended with a verdict, 0 to 1; null where none did. */
export function successRate(counts: StatusCounts): number | null {
  const judged = sumOf(Object.entries(counts), ([status, n]) => (WITHOUT_VERDICT.has(status) ? 0 : n));
  return judged === 0 ? null : (counts['completed'] ?? 0) / judged;
}
