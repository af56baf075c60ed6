import type { ActiveRun } from './active-run.ts';
import type { TriggerContext } from './model.ts';

/** Bytes of UTF-8 that are kept of each field of an alert; a longer one is cut and says so. */
export const FIELD_BYTES = { summary: 8 * 1024, value: 4 * 1024, severity: 256 } as const;
/** Labels of an alert, and annotations. */
export const MAX_ENTRIES = 64;

const MARK = /… \[cut from \d+ bytes\]$/;
/** No mark is longer. */
const MARK_BYTES = 40;

/** The maps of an alert that its metadata repeats. */
const REPEATED = new Set(['annotations', 'group_labels', 'common_labels', 'common_annotations']);

/** The context with its fields cut to their sizes; the same object where all fit. Matching and deduplication see the whole one. */
export function fitFields(context: TriggerContext): TriggerContext {
  const { summary, severity, labels, annotations } = context;
  const fitted = {
    summary: summary === null ? null : cutText(summary, FIELD_BYTES.summary),
    severity: severity === null ? null : cutText(severity, FIELD_BYTES.severity),
    labels: cutValues(labels),
    annotations: cutValues(annotations),
    metadata: context.source === 'alert_router' ? cutMetadata(context.metadata) : context.metadata,
  };
  const isSame =
    fitted.summary === summary &&
    fitted.severity === severity &&
    fitted.labels === labels &&
    fitted.annotations === annotations &&
    fitted.metadata === context.metadata;
  return isSame ? context : { ...context, ...fitted };
}

/** Says in the log of a run which of its fields were cut. */
export function noteCutFields({ journal, context }: Pick<ActiveRun, 'journal' | 'context'>): void {
  const fields = cutFields(context);
  if (fields.length > 0) journal.add('warn', 'fields_cut', `too long and cut: ${fields.join(', ')}`, { fields });
}

/** Names of the fields that were cut. */
export const cutFields = ({ summary, severity, labels, annotations }: TriggerContext): string[] => [
  ...cutIn('', { summary, severity }),
  ...cutIn('labels.', labels),
  ...cutIn('annotations.', annotations),
];

const cutIn = (prefix: string, texts: Readonly<Record<string, string | null>>): string[] =>
  Object.entries(texts).flatMap(([name, text]) => (text !== null && MARK.test(text) ? [prefix + name] : []));

/** No character takes more than three bytes a unit. */
const fits = (text: string, most: number): boolean => text.length * 3 <= most;

/** The text in so many bytes of UTF-8, with a mark where it was longer. */
export function cutText(text: string, most: number): string {
  if (fits(text, most)) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  const kept = bytes
    .subarray(0, most - MARK_BYTES)
    .toString()
    .replace(/\uFFFD$/, '');
  return `${kept}… [cut from ${bytes.length} bytes]`;
}

function cutValues<T>(map: Record<string, T>): Record<string, T> {
  if (Object.values(map).every((value) => typeof value !== 'string' || fits(value, FIELD_BYTES.value))) return map;
  const entries = Object.entries(map);
  const cut = entries.map(([key, value]): [string, T] => [
    key,
    typeof value === 'string' ? (cutText(value, FIELD_BYTES.value) as T) : value,
  ]);
  return cut.some(([, value], index) => value !== entries[index]?.[1]) ? Object.fromEntries(cut) : map;
}

function cutMetadata(metadata: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(metadata);
  const cut = entries.map(([key, value]): [string, unknown] => [
    key,
    REPEATED.has(key) ? cutValues(value as Record<string, unknown>) : cutValue(value),
  ]);
  return cut.some(([, value], index) => value !== entries[index]?.[1]) ? Object.fromEntries(cut) : metadata;
}

const cutValue = (value: unknown): unknown => (typeof value === 'string' ? cutText(value, FIELD_BYTES.value) : value);
