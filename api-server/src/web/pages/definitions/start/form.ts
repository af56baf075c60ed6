import { z } from 'zod';
import type { Given } from '../../../../service/deliveries/deliveries.ts';
import type { DeliveryDetail } from '../../../../service/views/kept-delivery.ts';
import { shorten } from '../../format.ts';
import { readJson, UnreadableBody } from '../../../read-json.ts';

/** What the form holds. Without a `source` the context is written by hand, field by field; labels are lines of `name=value`. */
export interface StartForm {
  source: string | null;
  summary: string;
  severity: string;
  labels: string;
  event: string;
  data: string;
  body: string;
}

export const EMPTY: StartForm = { source: null, summary: '', severity: '', labels: '', event: '', data: '', body: '' };

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** A generic payload opens in the fields for it, any other as JSON. */
export function formWith(source: string, body: unknown): StartForm {
  const generic = source === 'generic' ? Generic.safeParse(body) : null;
  if (!generic?.success) return { ...EMPTY, source, body: pretty(body) };
  const { summary, severity, labels, event, data } = generic.data;
  return {
    ...EMPTY,
    summary: summary ?? '',
    severity: severity ?? '',
    labels: Object.entries(labels ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join('\n'),
    event: event ?? '',
    data: data ? pretty(data) : '',
  };
}

/** A label that a line of `name=value` can say. */
const Labels = z.record(z.string().regex(/^[^=\n]+$/), z.string().regex(/^.*$/));

const Generic = z.object({
  summary: z.string().nullish(),
  severity: z.string().nullish(),
  labels: Labels.nullish(),
  event: z.string().nullish(),
  data: z.record(z.string(), z.unknown()).nullish(),
});

/** A delivery as the start of a form; null where its body is not there or was cut. */
export const fromDelivery = ({ source, raw, raw_truncated: isCut }: DeliveryDetail): StartForm | null =>
  raw === null || isCut ? null : formWith(source, raw);

export function readForm(posted: Record<string, unknown>): StartForm {
  const text = (key: string) => (typeof posted[key] === 'string' ? posted[key].replaceAll('\r\n', '\n') : '');
  return {
    source: text('source') === '' ? null : text('source'),
    summary: text('summary'),
    severity: text('severity'),
    labels: text('labels'),
    event: text('event'),
    data: text('data'),
    body: text('body'),
  };
}

export type ReadForm = { ok: true; given: Given } | { ok: false; field: 'labels' | 'data' | 'body'; msg: string };

/** The form as a body for the use case. */
export function givenBy(form: StartForm): ReadForm {
  const { source, data, body } = form;
  const field = source === null ? 'data' : 'body';
  const parsed = parseObject(source === null ? data : body);
  if (!parsed.ok) return { ok: false, field, msg: parsed.msg };
  if (source !== null) return { ok: true, given: { source, body: parsed.value } };
  const labels = parseLabels(form.labels);
  if (!labels.ok) return { ok: false, field: 'labels', msg: labels.msg };
  const written = {
    summary: form.summary.trim(),
    severity: form.severity.trim(),
    labels: labels.value,
    event: form.event.trim(),
    data: data.trim() && parsed.value,
  };
  const filled = Object.entries(written).filter(([, value]) => value !== '');
  return { ok: true, given: { source: 'generic', body: Object.fromEntries(filled) } };
}

type Parsed<T> = { ok: true; value: T } | { ok: false; msg: string };

/** Lines of `name=value`; an empty text where there is none. */
function parseLabels(text: string): Parsed<Record<string, string> | ''> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const wrong = lines.find((line) => line.indexOf('=') < 1);
  if (wrong !== undefined)
    return { ok: false, msg: `A label is written name=value, one a line; this is not: ${shorten(wrong, 80)}` };
  return { ok: true, value: lines.length === 0 ? '' : Object.fromEntries(lines.map(labelOf)) };
}

function labelOf(line: string): [string, string] {
  const at = line.indexOf('=');
  return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}

function parseObject(text: string): Parsed<object> {
  if (text.trim() === '') return { ok: true, value: {} };
  try {
    const value = readJson(Buffer.from(text));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ok: true, value };
    return { ok: false, msg: 'This must be a JSON object: {"key": "value"}.' };
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    return {
      ok: false,
      msg: `This is not JSON: ${error.cause instanceof Error ? error.cause.message : error.message}.`,
    };
  }
}
