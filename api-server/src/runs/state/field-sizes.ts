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

interface Cuts {
  summary(text: string): string;
  value(text: string): string;
  /** Cut maps by whole ones. */
  maps: Map<object, object>;
}

const newCuts = (): Cuts => ({
  summary: cutOnce(FIELD_BYTES.summary),
  value: cutOnce(FIELD_BYTES.value),
  maps: new Map(),
});

/** Fits the contexts of one delivery, which have texts and maps in common: each of these is cut once. */
export function fitTogether(): (context: TriggerContext) => TriggerContext {
  const cuts = newCuts();
  return (context) => fit(context, cuts);
}

/** The context with its fields cut to their sizes; the same object where all fit. Matching and deduplication see the whole one. */
export const fitFields = (context: TriggerContext): TriggerContext => fit(context, newCuts());

/** Characters of the map as JSON once its values are cut. */
export const fittedChars = (map: Record<string, string>): number => JSON.stringify(cutValues(map, newCuts())).length;

function fit(context: TriggerContext, cuts: Cuts): TriggerContext {
  const { summary, severity, labels, annotations } = context;
  const fitted = {
    summary: summary === null ? null : cuts.summary(summary),
    severity: severity === null ? null : cutText(severity, FIELD_BYTES.severity),
    labels: cutValues(labels, cuts),
    annotations: cutValues(annotations, cuts),
    metadata: context.source === 'alert_router' ? cutMetadata(context.metadata, cuts) : context.metadata,
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

function cutOnce(most: number): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    if (fits(text, most)) return text;
    const cut = known.get(text) ?? cutText(text, most);
    known.set(text, cut);
    return cut;
  };
}

type CutsOfMaps = Pick<Cuts, 'value' | 'maps'>;

function cutValues<T>(map: Record<string, T>, { value: cutOne, maps }: CutsOfMaps): Record<string, T> {
  if (Object.values(map).every((value) => typeof value !== 'string' || fits(value, FIELD_BYTES.value))) return map;
  const known = maps.get(map);
  if (known) return known as Record<string, T>;
  const entries = Object.entries(map);
  const cut = entries.map(([key, value]): [string, T] => [
    key,
    typeof value === 'string' ? (cutOne(value) as T) : value,
  ]);
  const isSame = cut.every(([, value], index) => value === entries[index]?.[1]);
  const fitted = isSame ? map : Object.fromEntries(cut);
  maps.set(map, fitted);
  return fitted;
}

function cutMetadata(metadata: Record<string, unknown>, cuts: CutsOfMaps): Record<string, unknown> {
  const entries = Object.entries(metadata);
  const cut = entries.map(([key, value]): [string, unknown] => {
    if (REPEATED.has(key)) return [key, cutValues(value as Record<string, unknown>, cuts)];
    return [key, typeof value === 'string' ? cuts.value(value) : value];
  });
  return cut.some(([, value], index) => value !== entries[index]?.[1]) ? Object.fromEntries(cut) : metadata;
}
