export interface RetryPolicy {
  attempts: number;
  backoff: 'fixed' | 'exponential';
  delay_seconds: number;
  max_delay_seconds: number;
}

/** Milliseconds to wait after failed attempt number `attempt` (1 is the first); null when no attempt is left. */
export function retryDelay(policy: RetryPolicy | undefined, attempt: number): number | null {
  if (!policy || attempt >= policy.attempts) return null;
  const factor = policy.backoff === 'exponential' ? 2 ** (attempt - 1) : 1;
  return Math.min(policy.delay_seconds * factor, policy.max_delay_seconds) * 1000;
}
