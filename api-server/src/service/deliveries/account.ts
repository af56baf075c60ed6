import type { TriggerContext } from '../../runs/state/model.ts';
import { covers, type Decided } from '../../triggers/coverage.ts';
import type { AlertFate, AlertNote, ClosestPipeline, DeliveryRecord } from '../../triggers/delivery-record.ts';
import type { Delivery, Verdict } from '../../triggers/model.ts';
import type { Parsed } from '../../triggers/sources/source.ts';
import { headOf } from './head.ts';
import type { Part } from './share.ts';

/** A delivery that was read, with what was decided about each of its contexts; one decision for all that share a run. */
export interface Account {
  delivery: Delivery;
  parsed: Extract<Parsed, { ok: true }>;
  /** With the alerts that `coveredBy` is about, in its order. */
  decided: readonly (Decided & Pick<Part, 'alerts'>)[];
  receivedAt: number;
}

/** Bodies that are kept longer are cut; the run of an accepted delivery has its own whole. */
export const MAX_RAW = 65_536;
const MAX_SUMMARY = 300;
const MAX_DETAIL = 1_000;
/** Characters of labels in the row of a delivery; the body has them all. */
const MAX_LABELS = 4_096;
const MAX_ALL_LABELS = 131_072;

const STATUS_CODES = { no_pipeline: 422, at_capacity: 429, invalid: 400 } as const;
const statusCode = (outcome: DeliveryRecord['outcome']): number =>
  outcome in STATUS_CODES ? STATUS_CODES[outcome as keyof typeof STATUS_CODES] : 202;

type Started = Extract<Verdict, { status: 'accepted' | 'queued' }>;
const isStarted = (verdict: Verdict): verdict is Started =>
  verdict.status === 'accepted' || verdict.status === 'queued';
export const startedAny = (decided: readonly Decided[]): boolean => decided.some(({ verdict }) => isStarted(verdict));

/** The row of a delivery; null where the service could not take it and the sender tries again. */
export function recordOf(account: Account, closest: readonly ClosestPipeline[] = []): DeliveryRecord | null {
  const { delivery, decided, receivedAt } = account;
  const head = headOf(decided.map(({ verdict }) => verdict));
  const about = decided.find(({ verdict }) => verdict.status === head.status)?.context;
  if (head.status === 'unavailable' || !about) return null;
  return {
    ...comesFrom(delivery, receivedAt),
    outcome: head.status,
    statusCode: statusCode(head.status),
    pipeline: 'pipeline' in head ? head.pipeline : null,
    runId: 'runId' in head ? head.runId : null,
    ...subjectOf(about),
    detail: cutTo(reasonOf(head), MAX_DETAIL),
    alerts: account.parsed.alerts.length > 1 ? fatesOf(account) : null,
    closest,
    ...(isStarted(head) ? { raw: null, rawTruncated: false } : rawOf(delivery.body)),
  };
}

const cutTo = (text: string | null, most: number): string | null => text && text.slice(0, most);

const subjectOf = ({ summary, severity, labels, fingerprint }: TriggerContext) => ({
  summary: cutTo(summary, MAX_SUMMARY),
  severity: cutTo(severity, MAX_SUMMARY),
  labels: within(labels, MAX_LABELS),
  fingerprint,
});

/** A delivery that could not be read. */
export const invalidRecord = (
  delivery: Delivery,
  receivedAt: number,
  refusal: { statusCode: number; message: string },
) => ({
  ...comesFrom(delivery, receivedAt),
  outcome: 'invalid' as const,
  statusCode: refusal.statusCode,
  pipeline: null,
  runId: null,
  summary: null,
  severity: null,
  labels: {},
  fingerprint: null,
  detail: refusal.message.slice(0, MAX_DETAIL),
  alerts: [],
  closest: [],
  ...(delivery.body === undefined ? { raw: null, rawTruncated: true } : rawOf(delivery.body)),
});

const comesFrom = ({ source, tokenName, team, strategy, allowTesting }: Delivery, receivedAt: number) => ({
  receivedAt,
  source: source?.slice(0, 64) ?? '',
  tokenName: tokenName ?? null,
  team,
  strategy: strategy?.slice(0, 64) ?? null,
  allowTesting,
});

function rawOf(body: unknown): { raw: string; rawTruncated: boolean } {
  const text = JSON.stringify(body) ?? '';
  return text.length <= MAX_RAW
    ? { raw: text, rawTruncated: false }
    : { raw: text.slice(0, MAX_RAW).toWellFormed(), rawTruncated: true };
}

function reasonOf(verdict: Verdict): string | null {
  if ('reason' in verdict) return verdict.reason;
  return 'message' in verdict ? verdict.message : null;
}

/** Labels up to a number of characters, in their order. */
function within(labels: Record<string, string>, most: number): Record<string, string> {
  let left = most;
  const entries = Object.entries(labels);
  const fitting = entries.filter(([key, value]) => (left -= key.length + value.length) >= 0);
  return fitting.length === entries.length ? labels : Object.fromEntries(fitting);
}

function fatesOf({ parsed, decided }: Account): AlertFate[] {
  const { alerts, contexts, share } = parsed;
  const places = new Map(decided.flatMap((one) => one.alerts.map((context, at) => [context, { one, at }] as const)));
  const started = new Set(decided.flatMap(({ verdict }) => (isStarted(verdict) ? [verdict.runId] : [])));
  let left = MAX_ALL_LABELS;
  return alerts.map((alert, index): AlertFate => {
    // Contexts are fewer than alerts where one stands for the group.
    const context = contexts[Math.min(index, contexts.length - 1)] as TriggerContext;
    const { one, at } = places.get(context) as { one: Decided; at: number };
    // The run has it with its fields cut.
    const isIts = share ? context.fingerprint === one.context.fingerprint : alerts.length === contexts.length;
    const labels = within(alert.labels, left);
    left -= JSON.stringify(labels).length;
    const earlier = share ? (one.coveredBy[at]?.id ?? null) : null;
    return { ...cut(alert), labels, ...fateOf(one.verdict, { isIts, earlier, started }) };
  });
}

const cut = ({ fingerprint, status }: AlertNote) => ({ fingerprint: fingerprint?.slice(0, 256) ?? null, status });

interface Place {
  /** Whether the verdict is about this very alert. */
  isIts: boolean;
  /** The earlier run that covers it. */
  earlier: string | null;
  /** The runs of this delivery. */
  started: ReadonlySet<string>;
}

export function fateOf(verdict: Verdict, { isIts, earlier, started }: Place): Omit<AlertFate, keyof AlertNote> {
  if (isStarted(verdict)) {
    const { runId } = verdict;
    if (isIts) return { fate: 'run', runId, reason: null };
    return earlier === null
      ? { fate: 'merged', runId, reason: null }
      : { fate: 'suppressed', runId: earlier, reason: covers(earlier, verdict.source) };
  }
  if (verdict.status === 'deduplicated') {
    const runId = earlier ?? verdict.runId;
    return started.has(runId)
      ? { fate: 'merged', runId, reason: null }
      : { fate: 'suppressed', runId, reason: covers(runId, verdict.source) };
  }
  return { fate: verdict.status === 'no_pipeline' ? 'no_pipeline' : 'refused', runId: null, reason: reasonOf(verdict) };
}

/** The fate of the one alert of a delivery, from its row. */
export function onlyFate(record: DeliveryRecord): AlertFate[] {
  const { outcome, source, fingerprint, labels, runId, detail } = record;
  const note = alertOf(source, fingerprint);
  if (outcome === 'accepted' || outcome === 'queued') return [{ ...note, labels, fate: 'run', runId, reason: null }];
  if (outcome === 'deduplicated') return [{ ...note, labels, fate: 'suppressed', runId, reason: detail }];
  return [
    { ...note, labels, fate: outcome === 'no_pipeline' ? 'no_pipeline' : 'refused', runId: null, reason: detail },
  ];
}

/** The status of an alert stands at the end of its fingerprint (Orchestration 4.1). */
function alertOf(source: string, fingerprint: string | null): Omit<AlertNote, 'labels'> {
  const at = source === 'alert_router' ? (fingerprint?.lastIndexOf(':') ?? -1) : -1;
  if (fingerprint === null || at === -1) return { fingerprint, status: null };
  return { fingerprint: fingerprint.slice(0, at), status: fingerprint.slice(at + 1) };
}
