import { linedJson } from '../state/lined-json.ts';
import type { ToolCall } from './approval.ts';

/** Characters that no reader sees, that change the order in which others are read, or that look like the usual space. */
const UNSEEN = /\p{Default_Ignorable_Code_Point}|\p{Cf}|\p{Zl}|\p{Zp}|[^\P{Zs} ]|[\u007F-\u009F\u2800\uFFFC]/gu;

/** Those of them that change the order: other unseen ones belong to words of some scripts and to emoji. */
const TURNING = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

function escaped(character: string): string {
  let text = '';
  for (let at = 0; at < character.length; at += 1)
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return text;
}

/** The same JSON on one line, in which nothing is hidden from the person who reads it. */
export const readableJson = (input: unknown): string => JSON.stringify(input).replace(UNSEEN, escaped);

/** As `readableJson`, on lines of their own where that does not make it much longer. */
export const indentedJson = (input: unknown): string => linedJson(input).replace(UNSEEN, escaped);

/** A question in which what an alert said is read in the order in which it stands. */
export const readableText = (text: string): string => text.replace(TURNING, escaped);

/** A part of a line: as it stands there, or the escapes of what no reader would see. */
export interface LinePart {
  text: string;
  escape: boolean;
}

const SHORT = new Map([
  ['\t', '\\t'],
  ['\r', '\\r'],
]);

const UNSEEN_IN_LINE = new RegExp(`(?:${UNSEEN.source}|[\\p{Cc}\\p{Cs}])+`, 'gu');

/** A line of a text in which nothing is hidden from the person who reads it: controls and spaces at its end are escapes too. */
export function readableLine(line: string): LinePart[] {
  let end = line.length;
  while (line[end - 1] === ' ') end -= 1;
  const parts: LinePart[] = [];
  let from = 0;
  for (const { 0: unseen, index } of line.slice(0, end).matchAll(UNSEEN_IN_LINE)) {
    if (index > from) parts.push({ text: line.slice(from, index), escape: false });
    parts.push({ text: unseen.replace(/[^]/g, (unit) => SHORT.get(unit) ?? escaped(unit)), escape: true });
    from = index + unseen.length;
  }
  if (end > from) parts.push({ text: line.slice(from, end), escape: false });
  if (line.length > end) parts.push({ text: escaped(line.slice(end)), escape: true });
  return parts;
}

/** A tool call as people are asked about it. */
export const callText = ({ server, tool, input }: Pick<ToolCall, 'server' | 'tool' | 'input'>): string =>
  `${server}/${tool}?\n${readableJson(input)}`;
