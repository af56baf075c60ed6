import type { RunEvent } from '../runs/state/model.ts';
import type { Counter } from '../runs/state/records.ts';
import type { Delivery, Refusal } from './channel.ts';
import { cut } from './compose.ts';
import type { Notification } from './message.ts';

export const MAX_ATTEMPTS = 3;
/** Waits after the first and the second try; a receiver's own `Retry-After` may make them longer, up to the last. */
const BACKOFF_MS = [2_000, 15_000] as const;
const MAX_WAIT_MS = 600_000;
/** How long a message waits for a receiver that wants fewer of them; those waits are no tries. */
const PATIENCE_MS = 3_600_000;
/** The wait of a receiver that does not say how long. */
export const UNSAID_WAIT_MS = 30_000;

export interface Claimed extends Notification {
  /** Tries that ended without success. */
  attempts: number;
}

export interface Settlement {
  id: string;
  runId: string | null;
  status: 'pending' | 'sent' | 'failed';
  attempts: number;
  /** Milliseconds; `nextAt` only where it stays pending. */
  at: number;
  nextAt: number | null;
  error: string | null;
  receipt: Record<string, string> | null;
  counters: Counter[];
  event: Omit<RunEvent, 'seq'>;
}

/** What a try means for its row, for the metrics (production only) and for the run's log. */
export function settle(claimed: Claimed, delivery: Delivery, at: number): Settlement {
  const { id, runId, channel, stage } = claimed;
  const patient = !delivery.ok && delivery.limited === true && at - claimed.createdAt < PATIENCE_MS;
  const attempts = claimed.attempts + (patient ? 0 : 1);
  const result = delivery.ok ? sent(delivery.receipt ?? null) : refusal(delivery, { channel, attempts, at, patient });
  const { status, error } = result;
  return {
    id,
    runId,
    attempts,
    at,
    ...result,
    counters: stage === 'production' ? [{ metric: 'notifications_total', labels: [channel, status], value: 1 }] : [],
    event: lineOf(claimed, { status, attempts, error, at }),
  };
}

type Result = Pick<Settlement, 'status' | 'nextAt' | 'error' | 'receipt'>;

const sent = (receipt: Settlement['receipt']): Result => ({ status: 'sent', nextAt: null, error: null, receipt });

interface Try {
  channel: string;
  attempts: number;
  at: number;
  patient: boolean;
}

function refusal({ message, retryable, retryAfterMs }: Refusal, { channel, attempts, at, patient }: Try): Result {
  const again = patient || (retryable && attempts < MAX_ATTEMPTS);
  const nextAt = again ? at + waitAfter(attempts, retryAfterMs ?? (patient ? UNSAID_WAIT_MS : 0)) : null;
  return { status: again ? 'pending' : 'failed', nextAt, error: cut(`${channel}: ${message}`, 300), receipt: null };
}

const waitAfter = (attempts: number, asked: number): number =>
  Math.min(Math.max(BACKOFF_MS[Math.max(attempts, 1) - 1] ?? MAX_WAIT_MS, asked), MAX_WAIT_MS);

function lineOf(
  { channel, insteadOf, event, runId }: Claimed,
  end: Pick<Settlement, 'status' | 'attempts' | 'error' | 'at'>,
): Settlement['event'] {
  const instead = insteadOf === null ? '' : ` instead of ${insteadOf} (testing)`;
  const tries = end.attempts === 1 ? '1 try' : `${end.attempts} tries`;
  const failed = end.status === 'failed';
  return {
    ts: new Date(end.at).toISOString(),
    level: failed ? 'warn' : 'info',
    event: failed ? 'notification_failed' : 'notification_sent',
    msg: failed
      ? `notification of ${event} failed after ${tries}: ${end.error ?? ''}`
      : `notification of ${event} went to ${channel}${instead}`,
    run_id: runId,
    channel,
  };
}
