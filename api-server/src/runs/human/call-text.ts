import type { ToolCall } from './approval.ts';

/** Characters that no reader sees, or that change the order in which others are read. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}|\p{Cf}|\p{Zl}|\p{Zp}|[\u007F-\u009F\u2800]/gu;

/** Those of them that change the order: other unseen ones belong to words of some scripts and to emoji. */
const TURNING = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

const escaped = (character: string): string =>
  [...Array(character.length).keys()]
    .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');

/** The same JSON on one line, in which nothing is hidden from the person who reads it. */
export const readableJson = (input: unknown): string => JSON.stringify(input).replace(UNSEEN, escaped);

const INDENT = 2;
/** What indentation may make of a JSON: in deep lists each value would get a hundred spaces. */
const MOST_TIMES = 4;
const ALWAYS_INDENTED = 20_000;

/** As `readableJson`, on lines of their own where that makes it at most four times as long. */
export function indentedJson(input: unknown): string {
  const compact = JSON.stringify(input);
  const most = Math.max(ALWAYS_INDENTED, MOST_TIMES * compact.length);
  const text = compact.length + indentsOf(input, 0) <= most ? JSON.stringify(input, null, INDENT) : compact;
  return text.replace(UNSEEN, escaped);
}

/** Characters by which indentation lengthens a JSON. */
function indentsOf(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items: unknown[] = Object.values(value);
  if (items.length === 0) return 0;
  const spaces = Array.isArray(value) ? 0 : items.length;
  const lines = items.length * (1 + INDENT * (depth + 1)) + 1 + INDENT * depth;
  return items.reduce<number>((sum, item) => sum + indentsOf(item, depth + 1), spaces + lines);
}

/** A question in which what an alert said is read in the order in which it stands. */
export const readableText = (text: string): string => text.replace(TURNING, escaped);

/** A tool call as people are asked about it. */
export const callText = ({ server, tool, input }: Pick<ToolCall, 'server' | 'tool' | 'input'>): string =>
  `${server}/${tool}?\n${readableJson(input)}`;
