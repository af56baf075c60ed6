import type { Templates } from '../runs/prompt/templates.ts';
import type { Message, NotificationEvent, Segment } from './message.ts';

/** Longer texts are cut before they are stored; a channel may cut more. */
export const MAX_TEXT = 20_000;
/** Of the pieces of a text as they are stored, as JSON: there may be thousands of one character each. */
export const MAX_TEXT_BYTES = 64 * 1024;
/** Characters of a line in a message that we wrote; a question to people may be longer. */
const MAX_LINE = 1_000;
const MAX_QUESTION = 2_400;

const HEADLINES: Record<NotificationEvent, string> = {
  escalate: 'Escalated',
  abort: 'Aborted',
  stop: 'Stopped',
  fail: 'Failed',
  complete: 'Completed',
  approval: 'Waiting for approval',
  remind: 'Not acknowledged yet',
  regression: 'Regression',
};

export type Facts = Omit<Message, 'text' | 'link' | 'buttons'>;

export const headline = ({ event, pipeline }: Pick<Message, 'event' | 'pipeline'>): string =>
  `${HEADLINES[event]}: ${pipeline}`;

/** So that what an alert or an agent said writes no line that reads like ours. */
const onOneLine = (text: string): string => text.replace(/\s+/g, ' ');

/** What is said where the author wrote no template: what happened, to what, and why (Orchestration 6). */
export function defaultText(facts: Facts): Segment[] {
  const isQuestion = facts.event === 'approval';
  const origin = [
    facts.severity && onOneLine(facts.severity),
    facts.team === null ? null : `team ${facts.team}`,
    facts.step === null ? null : `step ${facts.step}`,
  ];
  const reason =
    facts.reason && (isQuestion ? cut(facts.reason, MAX_QUESTION) : cut(onOneLine(facts.reason), MAX_LINE));
  const lines = [
    facts.summary && cut(onOneLine(facts.summary), MAX_LINE),
    reason,
    origin.filter((part) => part !== null).join(' · '),
  ];
  const said = lines.filter((line): line is string => line !== null && line !== '');
  return [
    { kind: 'strong', text: headline(facts) },
    ...said.map((line): Segment => ({ kind: 'value', text: `\n${line}` })),
  ];
}

export type Composed = { ok: true; text: Segment[]; missing: string[] } | { ok: false; msg: string };

export interface Composing {
  templates: Templates;
  values: Record<string, unknown>;
  /** Applied before anything is cut, so that no half of a secret stays. */
  mask(text: string): string;
}

/** The author's template with the run's values; what was put in stays apart from what was written. */
export function templateText(source: string, { templates, values, mask }: Composing): Composed {
  const rendered = templates.renderNow(source, values);
  if (!rendered.ok) return { ok: false, msg: rendered.msg };
  const { text, spans, missing } = rendered;
  const segments: Segment[] = [];
  const add = (kind: Segment['kind'], from: number, to: number) => {
    const last = segments.at(-1);
    if (from === to) return;
    if (last?.kind === kind) last.text += text.slice(from, to);
    else segments.push({ kind, text: text.slice(from, to) });
  };
  let at = 0;
  for (const [start, end] of spans) {
    add('author', at, start);
    add('value', start, end);
    at = end;
  }
  add('author', at, text.length);
  return { ok: true, text: maskedAndCut(segments, mask), missing };
}

/** What is cut off is not looked at: there may be thousands of segments. */
function maskedAndCut(segments: readonly Segment[], mask: Composing['mask']): Segment[] {
  let left = MAX_TEXT;
  let bytes = MAX_TEXT_BYTES - MARK_BYTES;
  const kept: Segment[] = [];
  for (const { kind, text } of segments) {
    if (left <= 0) break;
    const masked = mask(text);
    const whole: Segment = { kind, text: cut(masked, left) };
    const fits = cutBytes(whole, bytes);
    kept.push(fits);
    if (fits !== whole) break;
    left -= masked.length;
    bytes -= bytesOf(fits);
  }
  return kept;
}

/** In a list, with the comma. */
const bytesOf = (segment: Segment): number => Buffer.byteLength(JSON.stringify(segment)) + 1;

/** Of the brackets of the list, and of a piece that says nothing but that the rest is cut off. */
const MARK_BYTES = 2 + bytesOf({ kind: 'author', text: '…' });

/** The same where it takes at most so many bytes; else its beginning with a mark, or the mark alone. */
function cutBytes(segment: Segment, most: number): Segment {
  if (bytesOf(segment) <= most) return segment;
  const upTo = (chars: number): Segment => ({ ...segment, text: cut(`${segment.text}…`, chars) });
  let [fits, tooMany] = [1, segment.text.length + 1];
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1;
    if (bytesOf(upTo(middle)) <= most) fits = middle;
    else tooMany = middle;
  }
  return upTo(fits);
}

/** At most `most` UTF-16 units, never half a character. */
export const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`;
