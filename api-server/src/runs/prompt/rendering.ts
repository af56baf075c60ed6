import { LIMITS } from '@signalbox/crds';
import type { Owner } from '@signalbox/crds/process/compute';
import { failure, type Failure } from '../state/executor.ts';
import type { Templates } from './templates.ts';

/** What `${NAME}` may mean in `url`, `headers` and `payload`: the operator's list and its values. */
export interface PipelineEnv {
  /** Undefined for a name that is not on `security.pipeline_env`. */
  valueOf(name: string): string | undefined;
  /** True where `${NAME}` is left as it stands. */
  verbatim?: boolean;
  /** Replaces every such value in text that leaves the process. */
  mask(text: string): string;
}

export interface Rendering {
  templates: Templates;
  env: PipelineEnv;
  values: Record<string, unknown>;
  owner: Owner;
  /** Shared by all texts of one request or context. */
  room: TextRoom;
  /** The author's key that holds the text; every failure names it. */
  field?: string;
  /** Called with every value that a template uses and that does not exist; it is rendered as empty text. */
  missing?: (value: string) => void;
}

/** Characters of the texts, and their keys, that are rendered so far. */
export interface TextRoom {
  chars: number;
}

export const textRoom = (): TextRoom => ({ chars: 0 });

/** As much as one text alone: a definition of 256 KiB can ask for a thousand of these. */
const MAX_TOGETHER = 1024 * 1024;

function takeRoom({ room, field }: Rendering, chars: number): Failure | null {
  room.chars += chars;
  if (room.chars <= MAX_TOGETHER) return null;
  return templateFailure({ msg: 'with it the rendered texts are larger than 1 MiB together' }, field);
}

type Rendered<T> = { ok: true; value: T } | Failure;

/** Names the author's key, where one is known. */
export const templateFailure = ({ reason, msg }: { reason?: string; msg: string }, field?: string): Failure =>
  failure(
    reason === 'compute_limit' ? 'compute_limit' : 'template_failed',
    field === undefined ? msg : `${field}: ${msg}`,
  );

const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * Puts the operator's values into the author's literal text; a value is never read as a template. What is longer than a template
 * may be is refused as one, so that no more is put in.
 */
export function expandEnv(source: string, env: PipelineEnv): Rendered<string> {
  if (env.verbatim) return { ok: true, value: source };
  let refused: string | null = null;
  let chars = 0;
  const value = source.replaceAll(PLACEHOLDER, (written, name: string) => {
    const found = env.valueOf(name);
    if (found === undefined) refused ??= name;
    if (chars > LIMITS.templateChars) return written;
    const text = (found ?? '').replaceAll('{{', '\\{{');
    chars += text.length;
    return text;
  });
  if (refused === null) return { ok: true, value };
  return failure('env_not_allowed', `\${${refused as string}} is not listed in security.pipeline_env`);
}

/** The same for what stands under a key. */
export const within = (rendering: Rendering, key: string | number): Rendering => {
  const { field } = rendering;
  if (field === undefined) return { ...rendering, field: String(key) };
  return { ...rendering, field: typeof key === 'number' ? `${field}[${key}]` : `${field}.${key}` };
};

/** Renders one text; `encode` is applied to what values put in, not to what the author wrote. */
export async function renderText(
  source: string,
  rendering: Rendering,
  encode?: (value: string) => string,
): Promise<Rendered<string>> {
  const { templates, env, values, missing, field, owner } = rendering;
  const expanded = expandEnv(source, env);
  if (!expanded.ok)
    return { ...expanded, message: field === undefined ? expanded.message : `${field}: ${expanded.message}` };
  const render = encode ? templates.renderStrict : templates.render;
  const rendered = await render(expanded.value, values, owner);
  if (!rendered.ok) return templateFailure(rendered, field);
  if (missing) for (const value of rendered.missing) missing(value);
  const value = encode ? encodeSpans(rendered.text, rendered.spans, encode) : rendered.text;
  return takeRoom(rendering, value.length) ?? { ok: true, value };
}

function encodeSpans(
  text: string,
  spans: readonly (readonly [number, number])[],
  encode: (value: string) => string,
): string {
  let at = 0;
  let out = '';
  for (const [start, end] of spans) {
    out += text.slice(at, start) + encode(text.slice(start, end));
    at = end;
  }
  return out + text.slice(at);
}

/** Renders every string of a JSON value; keys stay as written. */
export async function renderJson(value: unknown, rendering: Rendering): Promise<Rendered<unknown>> {
  if (typeof value === 'string') return renderText(value, rendering);
  if (Array.isArray(value)) return renderEach(value.entries(), rendering);
  if (typeof value !== 'object' || value === null) return { ok: true, value };
  const keys = Object.keys(value);
  const rendered = await renderEach(Object.entries(value), rendering);
  if (!rendered.ok) return rendered;
  return { ok: true, value: Object.fromEntries(keys.map((key, index) => [key, rendered.value[index]])) };
}

async function renderEach(
  items: Iterable<[string | number, unknown]>,
  rendering: Rendering,
): Promise<Rendered<unknown[]>> {
  const values: unknown[] = [];
  for (const [key, item] of items) {
    const place = within(rendering, key);
    const rendered = takeRoom(place, String(key).length) ?? (await renderJson(item, place));
    if (!rendered.ok) return rendered;
    values.push(rendered.value);
  }
  return { ok: true, value: values };
}
