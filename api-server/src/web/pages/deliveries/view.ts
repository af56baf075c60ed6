import { exportLinks } from '../exports/links.ts';
import type { DeliveryDetail, DeliveryLine } from '../../../service/views/kept-delivery.ts';
import { apiPath } from '../curl.ts';
import { age, count, exactTime, sentence, shorten } from '../format.ts';
import { paths } from '../paths.ts';
import type { FirstRun } from '../runs/first-run.ts';
import { jsonTree } from '../run/step/json-tree.ts';
import type { StatusLook } from '../status.ts';
import { ruleText } from '../definitions/rule-text.ts';
import { type Filters, OUTCOMES } from './filters.ts';

const LOOKS: Record<DeliveryLine['outcome'], StatusLook> = {
  accepted: { icon: 'completed', word: 'Accepted', tone: 'good' },
  queued: { icon: 'queued', word: 'Queued', tone: 'wait' },
  deduplicated: { icon: 'half', word: 'Deduplicated', tone: 'quiet' },
  skipped_testing: { icon: 'skipped', word: 'Testing only', tone: 'quiet' },
  suspended: { icon: 'stopped', word: 'Suspended', tone: 'wait' },
  no_pipeline: { icon: 'alert', word: 'No pipeline', tone: 'bad' },
  at_capacity: { icon: 'failed', word: 'At capacity', tone: 'bad' },
  invalid: { icon: 'failed', word: 'Invalid', tone: 'bad' },
};

const FATES: Record<DeliveryDetail['alerts'][number]['fate'], StatusLook> = {
  run: { icon: 'completed', word: 'Started a run', tone: 'good' },
  merged: { icon: 'branch', word: 'Merged', tone: 'good' },
  suppressed: { icon: 'half', word: 'Deduplicated', tone: 'quiet' },
  no_pipeline: { icon: 'alert', word: 'No pipeline', tone: 'bad' },
  refused: { icon: 'failed', word: 'Refused', tone: 'bad' },
};

/** In place of the answer's advice to the sender, which is to ask for what this page shows. */
const CLOSEST =
  'No pipeline matches this delivery. Change trigger.match of one of those below, then choose Handle again.';

/** Alerts that a page lists; a delivery may have 1,000. */
const MOST_ALERTS = 50;
const MAX_CHIPS = 6;
const chipsOf = (labels: Record<string, string>) =>
  Object.entries(labels)
    .slice(0, MAX_CHIPS)
    .map(([name, value]) => ({ name, value: shorten(value, 80) }));

const titleOf = ({ summary, labels, detail }: DeliveryLine): string =>
  summary ?? labels['alertname'] ?? (detail ? sentence(detail) : 'Delivery without a summary');

/** The title of its page: what was wrong stands below it. */
const headingOf = ({ summary, labels }: DeliveryLine): string =>
  summary ?? labels['alertname'] ?? 'Delivery without a summary';

const runOf = (id: string | null) => (id === null ? null : { href: paths.run(id), name: `…${id.slice(-8)}` });

const row = (line: DeliveryLine, now: number) => ({
  href: paths.delivery(line.id),
  look: LOOKS[line.outcome],
  title: titleOf(line),
  note: [line.pipeline, line.source, line.token_name && `token ${line.token_name}`].filter(Boolean).join(' · '),
  run: runOf(line.run_id),
  since: line.received_at,
  exact: exactTime(line.received_at),
  age: age(line.received_at, now),
});

export interface DeliveriesInput {
  deliveries: DeliveryLine[];
  nextCursor: string | null;
  lookedBackTo: string | null;
  filters: Filters;
  now: number;
  first: FirstRun;
}

/** What was delivered to the webhook, newest first. */
export function deliveriesView({ deliveries, nextCursor, lookedBackTo, filters, now, first }: DeliveriesInput) {
  const { outcome, q } = filters;
  return {
    action: paths.deliveries(),
    q: q ?? '',
    options: OUTCOMES.map((value) => ({
      value,
      label: LOOKS[value].word,
      selected: value === outcome,
    })),
    active: outcome !== undefined,
    filtered: outcome !== undefined || q !== undefined,
    rows: deliveries.map((line) => row(line, now)),
    newest: filters.cursor === undefined ? null : paths.deliveries({ outcome, q }),
    older: nextCursor === null ? null : paths.deliveries({ outcome, q, cursor: nextCursor }),
    lookedBackTo: lookedBackTo === null ? null : exactTime(lookedBackTo),
    exports: exportLinks(['deliveries']),
    curl: first.curl,
  };
}

function bodyOf({ raw, raw_truncated: isCut }: DeliveryDetail) {
  const cut = isCut && raw !== null;
  if (typeof raw === 'string') return { cut, text: raw, body: null };
  return { cut, text: null, body: typeof raw === 'object' && raw !== null ? jsonTree(raw) : null };
}

const textOr = (text: string | null): string => (text === null || text === '' ? 'none' : text);

type Alert = DeliveryDetail['alerts'][number];

/** An alert says it no better than its delivery where both were refused for one reason. */
const lookOf = ({ fate, reason }: Alert, { outcome, detail }: DeliveryDetail): StatusLook =>
  fate === 'refused' && detail !== null && reason === detail ? LOOKS[outcome] : FATES[fate];

const saysMore = ({ labels, fingerprint, status, run_id: run }: Alert): boolean =>
  Object.keys(labels).length > 0 || [fingerprint, status, run].some(Boolean);

export interface DeliveryInput {
  delivery: DeliveryDetail;
  operator: boolean;
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** One delivery: what came, and what became of each of its alerts. */
export function deliveryView({ delivery, operator }: DeliveryInput) {
  const mayRepeat = operator && delivery.raw !== null && !delivery.raw_truncated;
  const alerts = delivery.alerts.some(saysMore) ? delivery.alerts : [];
  const facts = [
    { label: 'Received', value: exactTime(delivery.received_at), href: null },
    { label: 'Source', value: textOr(delivery.source), href: null },
    { label: 'Token', value: textOr(delivery.token_name), href: null },
    { label: 'Team', value: textOr(delivery.team), href: null },
    { label: 'Answer', value: String(delivery.status_code), href: null },
    {
      label: 'Pipeline',
      value: textOr(delivery.pipeline),
      href: delivery.pipeline === null ? null : paths.pipeline(delivery.pipeline),
    },
  ];
  return {
    id: delivery.id,
    listPath: paths.deliveries(),
    title: headingOf(delivery),
    look: LOOKS[delivery.outcome],
    detail: delivery.closest.length === 0 ? delivery.detail && sentence(delivery.detail) : CLOSEST,
    facts,
    redeliver: mayRepeat ? paths.redeliver(delivery.id) : null,
    commands: mayRepeat ? [{ label: 'Handle again', path: apiPath('deliveries', delivery.id, 'redeliver') }] : [],
    alerts: alerts.slice(0, MOST_ALERTS).map((alert) => ({
      look: lookOf(alert, delivery),
      chips: chipsOf(alert.labels),
      status: alert.status,
      fingerprint: alert.fingerprint,
      // Said once where it is that of the whole delivery.
      reason: alert.reason === delivery.detail ? null : alert.reason,
      run: runOf(alert.run_id),
    })),
    moreAlerts:
      delivery.alerts.length > MOST_ALERTS
        ? `The first ${MOST_ALERTS} of ${count(delivery.alerts.length)} alerts. GET /deliveries/${delivery.id} has all of them.`
        : null,
    closest: delivery.closest.map((one) => ({
      pipeline: one.pipeline,
      href: paths.pipeline(one.pipeline),
      rule: `${one.failed_rule} ${ruleText(one.expected)}`,
      actual: shown(one.actual),
    })),
    ...bodyOf(delivery),
  };
}
