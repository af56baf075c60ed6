import type { ActiveRun } from './active-run.ts';
import { failure, type Failure } from './executor.ts';

/** Counts what a step was asked or put out, a message or a definition towards its namespace; why nothing more is stored today, or null. */
export type DailyBytes = (run: Pick<ActiveRun, 'namespace'>, size: number) => Failure | null;

const DAY_MS = 86_400_000;

/**
 * What the steps of a namespace may have stored in a day (UTC), sub-runs included: one alert starts up to 2,000 of these, one after the other.
 * Counts are of this process, from its start. `limitOf`: null for a namespace without a limit.
 */
export function createDailyBytes(limitOf: (namespace: string) => number | null, now: () => number): DailyBytes {
  let day = 0;
  const used = new Map<string, number>();
  return ({ namespace }, size) => {
    const most = namespace === null ? null : limitOf(namespace);
    if (namespace === null || most === null) return null;
    const today = Math.floor(now() / DAY_MS);
    if (today !== day) used.clear();
    day = today;
    const sum = (used.get(namespace) ?? 0) + size;
    if (sum > most) return failure('daily_bytes', spent(namespace, most));
    used.set(namespace, sum);
    return null;
  };
}

const spent = (namespace: string, most: number): string =>
  `the definitions, prompts, answers and messages of namespace "${namespace}" would take more than ${most} bytes of this day in UTC (daily_bytes of tenancy.namespaces)`;
