import type { Condition } from './script.ts';

/** The values that a script may refer to: `results` in the order of the calls, and `input`, the prompt. */
export interface ScriptContext {
  input: string;
  results: unknown[];
}

/** The value at a dotted path (`results.0.load`), own keys only; undefined where there is none. */
export function lookUp(path: string, context: ScriptContext): unknown {
  let value: unknown = context;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Puts values into a template: `{{path}}` in strings, `{$value: path}` and `{$scale: …}` in place of a value. */
export function fill(template: unknown, context: ScriptContext): unknown {
  if (typeof template === 'string')
    return template.replace(/\{\{\s*([\w.-]+)\s*\}\}/g, (_, path: string) => asText(lookUp(path, context)));
  if (Array.isArray(template)) return template.map((item) => fill(item, context));
  if (typeof template !== 'object' || template === null) return template;
  if ('$value' in template) return lookUp(String(template.$value), context) ?? null;
  if ('$scale' in template) return scale(template.$scale, context);
  return Object.fromEntries(Object.entries(template).map(([key, item]) => [key, fill(item, context)]));
}

/** `{value, from: [a, b], to: [x, y]}`: linear from one range into the other, never outside `to`; null for a value that is not a number. */
function scale(spec: unknown, context: ScriptContext): number | null {
  const { value, from, to } = (spec ?? {}) as { value?: unknown; from?: unknown; to?: unknown };
  const number = Number(lookUp(String(value), context) ?? Number.NaN);
  const [a, b] = pair(from);
  const [x, y] = pair(to);
  const share = Math.min(1, Math.max(0, (number - a) / (b - a)));
  const result = Math.round((x + share * (y - x)) * 1000) / 1000;
  return Number.isFinite(result) ? result : null;
}

function pair(value: unknown): [number, number] {
  return Array.isArray(value) ? [Number(value[0]), Number(value[1])] : [Number.NaN, Number.NaN];
}

export function holds(condition: Condition | undefined, context: ScriptContext): boolean {
  if (!condition) return true;
  const { exists, equals, below, above } = condition;
  const value = lookUp(condition.value, context) ?? null;
  const number = value === null ? Number.NaN : Number(value);
  return [
    exists === undefined || exists === (value !== null),
    equals === undefined || equals === value,
    below === undefined || number < below,
    above === undefined || number > above,
  ].every(Boolean);
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
