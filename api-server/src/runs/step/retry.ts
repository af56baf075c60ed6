import { backoffMs } from '../../backoff.ts';

export interface RetryPolicy {
  attempts: number;
  backoff: 'fixed' | 'exponential';
  delay_seconds: number;
  max_delay_seconds: number;
}

/** Milliseconds to wait after failed attempt number `attempt` (1 is the first); null when no attempt is left. */
export function retryDelay(policy: RetryPolicy | undefined, attempt: number): number | null {
  if (!policy || attempt >= policy.attempts) return null;
  const most = { firstMs: policy.delay_seconds * 1000, mostMs: policy.max_delay_seconds * 1000 };
  return backoffMs(policy.backoff === 'exponential' ? attempt : 1, most);
}
