import { z } from 'zod';
import type { Given } from '../../../../service/deliveries/deliveries.ts';
import type { DeliveryDetail } from '../../../../service/views/kept-delivery.ts';
import { readJson, UnreadableBody } from '../../../read-json.ts';

/** What the form holds. Without a `source` the context is written by hand: a summary, an event and data. */
export interface StartForm {
  source: string | null;
  summary: string;
  event: string;
  data: string;
  body: string;
}

export const EMPTY: StartForm = { source: null, summary: '', event: '', data: '', body: '' };

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

/** A generic payload opens in the fields for it, any other as JSON. */
export function formWith(source: string, body: unknown): StartForm {
  const generic = source === 'generic' ? Generic.safeParse(body) : null;
  if (!generic?.success) return { ...EMPTY, source, body: pretty(body) };
  const { summary, event, data } = generic.data;
  return { ...EMPTY, summary: summary ?? '', event: event ?? '', data: data ? pretty(data) : '' };
}

const Generic = z.object({
  summary: z.string().nullish(),
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
    event: text('event'),
    data: text('data'),
    body: text('body'),
  };
}

export type ReadForm = { ok: true; given: Given } | { ok: false; field: 'data' | 'body'; msg: string };

/** The form as a body for the use case. */
export function givenBy({ source, summary, event, data, body }: StartForm): ReadForm {
  const field = source === null ? 'data' : 'body';
  const parsed = parseObject(source === null ? data : body);
  if (!parsed.ok) return { ok: false, field, msg: parsed.msg };
  if (source !== null) return { ok: true, given: { source, body: parsed.value } };
  const hand = {
    ...(summary.trim() !== '' && { summary: summary.trim() }),
    ...(event.trim() !== '' && { event: event.trim() }),
    ...(data.trim() !== '' && { data: parsed.value }),
  };
  return { ok: true, given: { source: 'generic', body: hand } };
}

function parseObject(text: string): { ok: true; value: object } | { ok: false; msg: string } {
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
