import type { Message, Segment } from './message.ts';

/** How a channel writes text. */
export interface Markup {
  /** Makes a value plain text in this channel. */
  escape(text: string): string;
  /** Gets escaped text. */
  strong(escaped: string): string;
  /** Gets a URL of ours and a label of ours. */
  link(url: string, label: string): string;
  /** Finds what the channel takes for formatting in escaped text: it hides such signs, or what stands between them. */
  formatting: RegExp;
  /** UTF-16 units of one message. */
  limit: number;
}

/**
 * Unpaired surrogates and control characters, which some receivers refuse, go; and so do those that turn the direction of a text, which
 * would be read as another one than it is.
 */
export const clean = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '')
    .replace(/[\u2028\u2029]/g, '\n');

/** The text of a message in a channel's markup: values escaped, the end cut before an escape or a character would be. */
export function markUp({ text, link }: { text: readonly Segment[]; link: string | null }, markup: Markup): string {
  const end = link === null ? '' : `\n${markup.link(link, 'Open the run')}`;
  let left = markup.limit - end.length;
  let out = '';
  for (const segment of text) {
    const encoded = encode(segment, markup);
    if (encoded.length <= left) {
      out += encoded;
      left -= encoded.length;
      continue;
    }
    out += cutEncoded(clean(segment.text), segment.kind === 'author' ? AS_IS : markup.escape, left);
    break;
  }
  return out + end;
}

function encode({ kind, text }: Segment, { escape, strong }: Markup): string {
  const cleaned = clean(text);
  if (kind === 'author') return cleaned;
  return kind === 'strong' ? strong(escape(cleaned)) : escape(cleaned);
}

const AS_IS = (text: string): string => text;

/** As many whole characters as fit, escaped. */
function cutEncoded(text: string, escape: Markup['escape'], most: number): string {
  let out = '';
  for (const character of text) {
    const next = escape(character);
    if (out.length + next.length > most - 1) return most > 0 ? `${out}…` : '';
    out += next;
  }
  return out;
}

export const plainText = ({ text }: Pick<Message, 'text'>): string =>
  clean(text.map((segment) => segment.text).join(''));

/** The text with the link under it, for channels without markup. */
export const plainTextWithLink = (message: Pick<Message, 'text' | 'link'>): string =>
  message.link === null ? plainText(message) : `${plainText(message)}\n${message.link}`;
