import { backoffMs } from '../backoff.ts';
import type { RunEvent } from '../runs/state/model.ts';
import type { Counter } from '../runs/state/records.ts';
import type { TriedRequest } from '../runs/state/step-parts.ts';
import type { Delivery, Refusal } from './channel.ts';
import { cut } from './compose.ts';
import type { Notification } from './message.ts';
import { MOST_HELD_MS } from './rate-limits.ts';
import { nextReminder } from './reminders.ts';
import { MOST_TRIES, type Tried } from './tried.ts';

/** A receiver's own `Retry-After` may make a wait longer, up to the last. */
const BACKOFF = { firstMs: 2_000, mostMs: MOST_HELD_MS };
/** The wait of a receiver that does not say how long. */
export const UNSAID_WAIT_MS = 30_000;

export interface Claimed extends Notification {
  /** Tries that ended without success; waits for a receiver that wants fewer messages are none. */
  attempts: number;
  /** What its tries came to, the last ones. */
  tries: readonly Tried[];
  /** From when it is tried: its creation, or the last time that somebody had it sent again. */
  triedFrom: number;
}

export interface Settlement {
  id: string;
  runId: string | null;
  /** `forwarded`: given up, `forward` has it now. */
  status: 'pending' | 'sent' | 'failed' | 'forwarded';
  attempts: number;
  tries: readonly Tried[];
  /** Milliseconds; `nextAt` only where it stays pending. */
  at: number;
  nextAt: number | null;
  error: string | null;
  receipt: Record<string, string> | null;
  forward: Notification | null;
  /** The next reminder, for as long as nobody has acknowledged the run. */
  next: Notification | null;
  counters: Counter[];
  event: Omit<RunEvent, 'seq'>;
}

/** What a try came to, and its last request. */
export type Delivered = Delivery & { request?: TriedRequest | null };

export interface Patience {
  /** How long a message is tried (`notifications.give_up_after_seconds`). */
  giveUpMs: number;
  /** Where it goes then; null for nowhere. */
  forward(claimed: Claimed, at: number): Notification | null;
}

/** What a try means for its row, for the metrics (production only) and for the run's log. */
export function settle(claimed: Claimed, delivery: Delivered, at: number, patience: Patience): Settlement {
  const { id, runId, channel, stage } = claimed;
  const again = !delivery.ok && delivery.retryable && at - claimed.triedFrom < patience.giveUpMs;
  const attempts = claimed.attempts + (again && delivery.limited === true ? 0 : 1);
  const result = delivery.ok
    ? sent(delivery.receipt ?? null)
    : again
      ? later({ ...claimed, attempts }, delivery, at)
      : givenUp(claimed, delivery, patience.forward(claimed, at));
  const outcome = result.status === 'sent' ? 'sent' : 'failed';
  return {
    id,
    runId,
    attempts,
    tries: triesOf(claimed, delivery, { at, error: result.error }),
    at,
    ...result,
    next: nextOf(claimed, result, at),
    counters: stage === 'production' ? [{ metric: 'notifications_total', labels: [channel, outcome], value: 1 }] : [],
    event: lineOf(claimed, { ...result, attempts, at }),
  };
}

const nextOf = (claimed: Claimed, { status }: Result, at: number): Notification | null =>
  status === 'pending' ? null : nextReminder(notificationOf(claimed), at);

const notificationOf = ({ attempts: _attempts, tries: _tries, triedFrom: _from, ...notification }: Claimed) =>
  notification;

/** A wait of ours for a receiver that wants fewer messages is no try. */
function triesOf({ tries }: Claimed, { request = null, ...delivery }: Delivered, tried: Omit<Tried, 'request'>) {
  if (!delivery.ok && delivery.limited && request === null) return tries;
  return [...tries, { ...tried, request }].slice(-MOST_TRIES);
}

type Result = Pick<Settlement, 'status' | 'nextAt' | 'error' | 'receipt' | 'forward'>;

const sent = (receipt: Settlement['receipt']): Result => ({
  status: 'sent',
  nextAt: null,
  error: null,
  receipt,
  forward: null,
});

const errorOf = ({ channel }: Claimed, { message }: Refusal): string => cut(`${channel}: ${message}`, 300);

function later(claimed: Claimed, refusal: Refusal, at: number): Result {
  const asked = refusal.retryAfterMs ?? (refusal.limited ? UNSAID_WAIT_MS : 0);
  const wait = Math.max(backoffMs(Math.max(claimed.attempts, 1), BACKOFF), asked);
  const nextAt = at + (refusal.isOurs ? wait : Math.min(wait, BACKOFF.mostMs));
  return { status: 'pending', nextAt, error: errorOf(claimed, refusal), receipt: null, forward: null };
}

const givenUp = (claimed: Claimed, refusal: Refusal, forward: Notification | null): Result => ({
  status: forward ? 'forwarded' : 'failed',
  nextAt: null,
  error: errorOf(claimed, refusal),
  receipt: null,
  forward,
});

function lineOf(
  { channel, insteadOf, event, runId }: Claimed,
  end: Pick<Settlement, 'status' | 'attempts' | 'error' | 'at' | 'forward'>,
): Settlement['event'] {
  const instead = insteadOf === null ? '' : ` instead of ${insteadOf} (testing)`;
  const tries = end.attempts === 1 ? '1 try' : `${end.attempts} tries`;
  const failed = end.status !== 'sent';
  const then = end.forward ? `; it is sent to ${end.forward.channel} instead` : '';
  return {
    ts: new Date(end.at).toISOString(),
    level: failed ? 'warn' : 'info',
    event: failed ? 'notification_failed' : 'notification_sent',
    msg: failed
      ? `notification of ${event} failed after ${tries}: ${end.error ?? ''}${then}`
      : `notification of ${event} went to ${channel}${instead}`,
    run_id: runId,
    channel,
  };
}
