import type { HumanField } from '@signalbox/crds';
import type { FieldValues, Verdict } from './approval.ts';

const MAX_TEXT = 10_000;

export type Checked = { ok: true; values: FieldValues } | { ok: false; problems: { loc: string[]; msg: string }[] };

/** What a person filled in, with the defaults of the rest. Only an approval needs what is required. */
export function checkFields(fields: readonly HumanField[], { decision, fields: given }: Verdict): Checked {
  const known = new Set(fields.map(({ name }) => name));
  const strangers = Object.keys(given).filter((name) => !known.has(name));
  const problems = strangers.map((name) => ({
    loc: ['fields', name.slice(0, 64)],
    msg: 'is not a field of this approval',
  }));
  const values: FieldValues = {};
  for (const field of fields) {
    const value = (Object.hasOwn(given, field.name) ? given[field.name] : undefined) ?? field.default;
    const msg = value === undefined ? missing(field, decision) : wrong(field, value);
    if (msg !== null) problems.push({ loc: ['fields', field.name], msg });
    else if (value !== undefined) values[field.name] = value as string | number | boolean;
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, values };
}

const missing = ({ required }: HumanField, decision: Verdict['decision']): string | null =>
  required && decision === 'approve' ? 'is required' : null;

function wrong({ type, options }: HumanField, value: unknown): string | null {
  const fits =
    type === 'integer'
      ? Number.isSafeInteger(value)
      : typeof value === type && (type !== 'number' || Number.isFinite(value));
  if (!fits) return `must be of type ${type}`;
  if (options && !options.includes(value as string | number)) return `must be one of ${options.join(', ')}`;
  if (typeof value !== 'string') return null;
  if (value.length > MAX_TEXT) return `must have at most ${MAX_TEXT} characters`;
  return value.includes('\0') ? 'must not have NUL characters' : null;
}

/** Whether a touch of a button can say yes: nothing is left that only a person knows. */
export const needsNoInput = (fields: readonly HumanField[]): boolean =>
  fields.every((field) => !field.required || field.default !== undefined);

/** The values that apply when the approval times out. */
export const defaultsOf = (fields: readonly HumanField[]): FieldValues =>
  Object.fromEntries(fields.flatMap((field) => (field.default === undefined ? [] : [[field.name, field.default]])));
