import type { Failure } from './executor.ts';
import type { Texts } from './texts.ts';

/** What `${NAME}` may mean in `url`, `headers` and `payload` (Design 3): the operator's list and its values. */
export interface PipelineEnv {
  /** Undefined for a name that is not on `security.pipeline_env`. */
  valueOf(name: string): string | undefined;
  /** True where `${NAME}` is left as it stands. */
  verbatim?: boolean;
  /** Replaces every such value in text that leaves the process. */
  mask(text: string): string;
}

export interface Rendering {
  texts: Texts;
  env: PipelineEnv;
  values: Record<string, unknown>;
}

type Rendered<T> = { ok: true; value: T } | Failure;

const PLACEHOLDER = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

const failure = (type: string, message: string): Failure => ({ ok: false, type, message, retryable: false });

/** Puts the operator's values into the author's literal text; a value is never read as a template. */
export function expandEnv(source: string, env: PipelineEnv): Rendered<string> {
  if (env.verbatim) return { ok: true, value: source };
  let refused: string | null = null;
  const value = source.replaceAll(PLACEHOLDER, (_, name: string) => {
    const found = env.valueOf(name);
    if (found === undefined) refused ??= name;
    return (found ?? '').replaceAll('{{', '\\{{');
  });
  if (refused === null) return { ok: true, value };
  return failure('env_not_allowed', `\${${refused as string}} is not listed in security.pipeline_env`);
}

/** Renders one text; `encode` is applied to what values put in, not to what the author wrote. */
export function renderText(
  source: string,
  { texts, env, values }: Rendering,
  encode?: (value: string) => string,
): Rendered<string> {
  const expanded = expandEnv(source, env);
  if (!expanded.ok) return expanded;
  const compiled = encode ? texts.strict(expanded.value) : texts.template(expanded.value);
  if (!compiled.ok) return failure('template_failed', compiled.msg);
  const rendered = compiled.template.render(values);
  if (!rendered.ok) return failure('template_failed', rendered.msg);
  return { ok: true, value: encode ? encodeSpans(rendered.text, rendered.spans, encode) : rendered.text };
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
export function renderJson(value: unknown, rendering: Rendering): Rendered<unknown> {
  if (typeof value === 'string') return renderText(value, rendering);
  if (Array.isArray(value)) return collect(value.map((item) => renderJson(item, rendering)));
  if (typeof value !== 'object' || value === null) return { ok: true, value };
  const keys = Object.keys(value);
  const rendered = collect(Object.values(value).map((item) => renderJson(item, rendering)));
  if (!rendered.ok) return rendered;
  return { ok: true, value: Object.fromEntries(keys.map((key, index) => [key, rendered.value[index]])) };
}

function collect<T>(results: Rendered<T>[]): Rendered<T[]> {
  const values: T[] = [];
  for (const result of results) {
    if (!result.ok) return result;
    values.push(result.value);
  }
  return { ok: true, value: values };
}

/** Header names in lower case, so that an author's own content type takes the place of ours and never stands beside it. */
export function requestHeaders(headers: unknown, body: string | null): Record<string, string> {
  const type: Record<string, string> = body === null ? {} : { 'content-type': 'application/json' };
  const own = Object.entries(headers as Record<string, string>).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...type, ...Object.fromEntries(own) };
}
