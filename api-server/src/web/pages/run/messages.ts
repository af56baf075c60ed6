import type { NotificationLine } from '../../../service/views/notification.ts';
import { age, clock, duration, exactTime } from '../format.ts';
import type { StatusLook } from '../status.ts';
import { requestText } from './step/requests.ts';
import type { ShownRun } from './step/shown-step.ts';

const LOOKS: Record<NotificationLine['status'], StatusLook> = {
  pending: { icon: 'waiting', word: 'Waiting', tone: 'wait' },
  sent: { icon: 'completed', word: 'Sent', tone: 'good' },
  failed: { icon: 'failed', word: 'Not delivered', tone: 'bad' },
  forwarded: { icon: 'escalated', word: 'Sent to the fallback', tone: 'escalated' },
  dismissed: { icon: 'cancelled', word: 'Dismissed', tone: 'quiet' },
};

/** Waits that are over within moments say nothing. */
const lookOf = ({ status, error }: NotificationLine): StatusLook =>
  status === 'pending' && error !== null ? { ...LOOKS.pending, word: 'Not delivered yet', tone: 'bad' } : LOOKS[status];

const MAY_CHANGE = new Set<NotificationLine['status']>(['pending', 'failed', 'forwarded']);

function noteOf({ event, status, attempts, error, next_try_at: next }: NotificationLine, now: number): string {
  if (event === 'remind' && status === 'pending' && error === null)
    return `due at ${exactTime(next ?? '')}, unless somebody acknowledges the run before`;
  if (error === null || status === 'sent') return '';
  const tries = attempts === 1 ? '1 try' : `${attempts} tries`;
  const wait = next === null ? 0 : Math.round((Date.parse(next) - now) / 1000);
  return `${error} · ${tries}${wait > 0 ? ` · next try in ${waitWords(wait)}` : ''}`;
}

const waitWords = (seconds: number): string => (seconds < 60 ? `${seconds} s` : duration(seconds));

/** Each try with what it sent, where that is stored. */
const triesOf = ({ tries }: NotificationLine) =>
  (tries ?? []).map(({ at, error, request }) => ({
    at: clock(at),
    exact: exactTime(at),
    request: request === null ? 'sent no request' : requestText(request),
    error,
  }));

/** The messages about a run, and whether they arrived. */
export const messageRows = ({ notifications }: ShownRun, { now, operator }: { now: number; operator: boolean }) =>
  (notifications ?? []).map((one) => ({
    id: one.id,
    status: lookOf(one),
    name: `${one.event} to ${one.channel}`,
    note: noteOf(one, now),
    tries: one.status === 'sent' && one.attempts === 1 ? [] : triesOf(one),
    actions: operator && MAY_CHANGE.has(one.status),
    since: one.created_at,
    exact: exactTime(one.created_at),
    age: age(one.created_at, now),
  }));
