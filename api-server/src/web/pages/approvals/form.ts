import type { ApprovalField } from '../../../service/views/approval.ts';

export interface PostedDecision {
  decision: 'approve' | 'reject';
  fields: Record<string, unknown>;
  comment: string | null;
  /** The entered texts, to fill the form again. */
  entered: Record<string, string>;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The posted form as the API takes it; null without a decision. Texts are converted to the type of their field where possible. */
export function readDecision(form: Record<string, unknown>, fields: readonly ApprovalField[]): PostedDecision | null {
  const { decision } = form;
  if (decision !== 'approve' && decision !== 'reject') return null;
  const comment = textOf(form['comment']).trim().slice(0, 4_000);
  const typed = fields.map((field) => [field, textOf(form[`field.${field.name}`])] as const);
  return {
    decision,
    comment: comment === '' ? null : comment,
    fields: Object.fromEntries(typed.flatMap(([field, text]) => entryOf(field, text))),
    entered: { comment, ...Object.fromEntries(typed.map(([{ name }, text]) => [name, text])) },
  };
}

function entryOf({ name, type, default: preset }: ApprovalField, text: string): [string, unknown][] {
  // An empty text counts only where the field had a default.
  if (text === '') return type === 'string' && preset !== undefined ? [[name, '']] : [];
  return [[name, valueOf(type, text)]];
}

function valueOf(type: ApprovalField['type'], text: string): unknown {
  switch (type) {
    case 'string':
      return text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'integer':
    case 'number': {
      // A blank text is no 0.
      const number = text.trim() === '' ? Number.NaN : Number(text);
      return Number.isFinite(number) ? number : text;
    }
    default:
      return type satisfies never;
  }
}
