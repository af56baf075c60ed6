import { shortHash } from '@signalbox/crds';
import { z } from 'zod';
import type { TriggerContext } from '../../runs/state/model.ts';
import { fittedChars, MAX_ENTRIES } from '../../runs/state/field-sizes.ts';
import type { Parsed, ParseOptions, Source } from './source.ts';
import { refused } from './problems.ts';
import { textMap } from './text-map.ts';

const Texts = textMap(MAX_ENTRIES)
  .nullish()
  .transform((map): Record<string, string> => map ?? {});

/** Version 4 of the Alertmanager webhook, loosely: Grafana's and newer fields pass by. */
const Alert = z.object({
  status: z.enum(['firing', 'resolved']).nullish(),
  labels: Texts,
  annotations: Texts,
  startsAt: z.string().nullish(),
  endsAt: z.string().nullish(),
  generatorURL: z.string().nullish(),
  fingerprint: z.string().max(1024).nullish(),
});
type Alert = z.infer<typeof Alert>;

/** Alerts of one delivery; Alertmanager's own `max_alerts` is below this in any sane configuration. */
export const MAX_ALERTS = 1000;

const Payload = z.object({
  status: z.enum(['firing', 'resolved']).nullish(),
  groupKey: z.string().max(8192).nullish(),
  groupLabels: Texts,
  commonLabels: Texts,
  commonAnnotations: Texts,
  externalURL: z.string().nullish(),
  truncatedAlerts: z.number().nullish(),
  alerts: z.array(Alert).min(1).max(MAX_ALERTS),
});
type Payload = z.infer<typeof Payload>;

const STRATEGIES = ['most_severe', 'common_labels', 'per_alert'] as const;
const Strategy = z
  .enum(STRATEGIES)
  .nullable()
  .transform((strategy) => strategy ?? 'most_severe');

/** Most severe first; what stands nowhere here ranks below all. */
const SEVERITIES = [
  'critical',
  'page',
  'emergency',
  'error',
  'high',
  'major',
  'warning',
  'medium',
  'minor',
  'low',
  'info',
  'none',
];

const rank = (alert: Alert): number => {
  const at = SEVERITIES.indexOf((alert.labels['severity'] ?? '').toLowerCase());
  return at === -1 ? SEVERITIES.length : at;
};

/** Firing before resolved, then by severity, then in the order of the payload. */
function bySeverity(alerts: Alert[]): Alert[] {
  const order = (alert: Alert) => (alert.status === 'resolved' ? SEVERITIES.length + 1 : 0) + rank(alert);
  return alerts.toSorted((a, b) => order(a) - order(b));
}

interface Subject {
  labels: Record<string, string>;
  annotations: Record<string, string>;
  status: string;
  key: string;
  startsAt: string | null;
  endsAt: string | null;
  generatorUrl: string | null;
}

function alertSubject(payload: Payload, alert: Alert): Subject {
  return {
    labels: alert.labels,
    annotations: { ...payload.commonAnnotations, ...alert.annotations },
    status: alert.status ?? payload.status ?? 'firing',
    key: alert.fingerprint ? alert.fingerprint : shortHash(alert.labels),
    startsAt: alert.startsAt ?? null,
    endsAt: alert.endsAt ?? null,
    generatorUrl: alert.generatorURL ?? null,
  };
}

function groupSubject(payload: Payload): Subject {
  const anyFiring = payload.alerts.some(({ status }) => (status ?? 'firing') === 'firing');
  return {
    labels: payload.commonLabels,
    annotations: payload.commonAnnotations,
    status: payload.status ?? (anyFiring ? 'firing' : 'resolved'),
    key: payload.groupKey ? payload.groupKey : shortHash(payload.commonLabels),
    startsAt: payload.alerts[0]?.startsAt ?? null,
    endsAt: payload.alerts[0]?.endsAt ?? null,
    generatorUrl: payload.alerts[0]?.generatorURL ?? null,
  };
}

function subjects(payload: Payload, strategy: (typeof STRATEGIES)[number]): Subject[] {
  switch (strategy) {
    case 'common_labels':
      return [groupSubject(payload)];
    case 'per_alert':
      return payload.alerts.map((alert) => alertSubject(payload, alert));
    case 'most_severe':
      return bySeverity(payload.alerts).map((alert) => alertSubject(payload, alert));
    default:
      return strategy satisfies never;
  }
}

/** Characters of JSON that the runs of one delivery repeat of what its alerts have in common. */
const MAX_REPEATED = 16 * 1024 * 1024;

/** A run of each alert has the annotations of the group three times: as its own, and twice in its metadata. */
function repeatsTooMuch({ alerts, groupLabels, commonLabels, commonAnnotations }: Payload): boolean {
  if (alerts.length === 1) return false;
  const chars = fittedChars(groupLabels) + fittedChars(commonLabels) + 3 * fittedChars(commonAnnotations);
  return alerts.length * chars > MAX_REPEATED;
}

const tooMuchInCommon = (alerts: number): Parsed => {
  const msg = `the labels and annotations that the ${alerts} alerts have in common take more than 16 MiB once each alert has them; use another strategy, or have the sender group fewer alerts`;
  return { ok: false, message: `strategy per_alert: ${msg}`, errors: [{ loc: ['body', 'alerts'], msg }] };
};

function toContext(payload: Payload, subject: Subject, raw: unknown, receivedAt: number): TriggerContext {
  const { labels, annotations, status } = subject;
  return {
    source: 'alert_router',
    pipeline: labels['pipeline'] ? labels['pipeline'] : null,
    severity: labels['severity'] ?? null,
    labels,
    annotations,
    summary: annotations['summary'] ?? annotations['description'] ?? null,
    // The status belongs to the key: a resolve is not a repeat of its firing (Orchestration 4.1).
    fingerprint: `${subject.key}:${status}`,
    metadata: {
      status,
      alert_count: payload.alerts.length,
      group_labels: payload.groupLabels,
      common_labels: payload.commonLabels,
      common_annotations: payload.commonAnnotations,
      annotations,
      external_url: payload.externalURL ?? null,
      generator_url: subject.generatorUrl,
      starts_at: subject.startsAt,
      ends_at: subject.endsAt,
    },
    raw,
    receivedAt,
  };
}

/** Alertmanager's webhook (Orchestration 2.6); `strategy` chooses what of a group becomes a run. */
export const alertRouter: Source = {
  name: 'alert_router',
  namesPipeline: false,
  payload: Payload,
  parse: (body, options: ParseOptions) => {
    const strategy = Strategy.safeParse(options.strategy);
    if (!strategy.success) {
      const msg = `must be one of ${STRATEGIES.join(', ')}`;
      return { ok: false, message: `strategy ${msg}`, errors: [{ loc: ['query', 'strategy'], msg }] };
    }
    const parsed = Payload.safeParse(body);
    if (!parsed.success) return refused('alert_router', parsed.error);
    const payload = parsed.data;
    if (strategy.data === 'per_alert' && repeatsTooMuch(payload)) return tooMuchInCommon(payload.alerts.length);
    const chosen = subjects(payload, strategy.data);
    const contexts = chosen.map((subject) => toContext(payload, subject, body, options.receivedAt));
    const all = strategy.data === 'common_labels' ? subjects(payload, 'per_alert') : chosen;
    const alerts = all.map(({ key, status, labels }) => ({ fingerprint: key, status, labels }));
    return { ok: true, contexts, alerts, share: strategy.data === 'most_severe' };
  },
};
