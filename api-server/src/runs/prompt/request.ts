import { nestsDeeper } from '@signalbox/crds';
import type { Failure, HttpCall } from '../state/executor.ts';
import { renderJson, renderText, type Rendering, within } from './rendering.ts';

/** A request as a pipeline's author writes it. */
export interface WrittenRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  payload?: unknown;
}

export type RenderedRequest = { ok: true; value: Omit<HttpCall, 'signal'> } | Failure;

/** Renders `url` (values percent-encoded), `headers` and `payload`; `payload` may come as it is instead, never read as a template. */
export async function renderRequest(
  { url, method, headers, payload }: WrittenRequest,
  rendering: Rendering,
  ready?: unknown,
): Promise<RenderedRequest> {
  const address = await renderText(url, within(rendering, 'url'), encoded);
  if (!address.ok) return address;
  const names = await renderJson(headers, within(rendering, 'headers'));
  if (!names.ok) return names;
  const content =
    payload === undefined
      ? { ok: true as const, value: ready ?? null }
      : await renderJson(payload, within(rendering, 'payload'));
  if (!content.ok) return content;
  const body = bodyOf(content.value, method);
  return { ok: true, value: { url: address.value, method, headers: requestHeaders(names.value, body), body } };
}

/** An alert may hold half of a surrogate pair, which has no UTF-8. */
const encoded = (value: string): string => encodeURIComponent(value.toWellFormed());

/** What a request holds in memory until it is answered. */
export const charsOf = ({ url, headers, body }: Omit<HttpCall, 'signal'>): number =>
  JSON.stringify([url, headers]).length + (body?.length ?? 0);

function bodyOf(payload: unknown, method: string): string | null {
  if (payload === null || method === 'GET' || method === 'HEAD') return null;
  return typeof payload === 'string' ? payload : JSON.stringify(payload);
}

/** Header names in lower case, so that an author's own content type takes the place of ours and never stands beside it. */
function requestHeaders(headers: unknown, body: string | null): Record<string, string> {
  const type: Record<string, string> = body === null ? {} : { 'content-type': 'application/json' };
  const own = Object.entries(headers as Record<string, string>).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...type, ...Object.fromEntries(own) };
}

/** Levels of a body, as of an answer: what is deeper cannot be written again. */
const MAX_DEPTH = 100;

/** A body as templates and expressions see it: JSON where it is JSON, else its text. */
export function parseBody(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return nestsDeeper(value, MAX_DEPTH) ? text : value;
  } catch {
    return text;
  }
}
