import { RE2JS } from 're2js';
import { MAX_PATTERN_SOURCE, patternSize } from './pattern-size.ts';

/** `size` counts the instructions of the compiled pattern: a match takes at most this times the length of the text. */
export type CompiledRegex =
  | { ok: true; size: number; test: (text: string) => boolean }
  | { ok: false; msg: string; tooLarge?: true };

/** Instructions with the repetitions written out. */
const MAX_SIZE = 10_000;
/** A compiled pattern may be so many times larger than its text tells. What is larger yet was told wrongly, and is not kept. */
const MAX_ERROR = 4;
/** Characters of one text that an expression, a rule or a schema matches with a pattern. */
export const MAX_PATTERN_TEXT = 16 * 1024;

const TOO_LARGE = {
  ok: false,
  tooLarge: true,
  msg: `regular expression is too large: it has more than ${MAX_SIZE} instructions, repetitions written out`,
} as const;

/**
 * An RE2 pattern: linear in the text whatever the pattern, unlike JavaScript's own. `test` searches anywhere.
 * The source is at most 1000 characters.
 */
export function compileRegex(source: string): CompiledRegex {
  if (source.length > MAX_PATTERN_SOURCE)
    return { ok: false, msg: `regular expression is longer than ${MAX_PATTERN_SOURCE} characters` };
  const told = patternSize(source);
  if (told > MAX_SIZE) return TOO_LARGE;
  try {
    const pattern = RE2JS.compile(source);
    const size = pattern.programSize();
    if (size > MAX_ERROR * told + MAX_ERROR) return TOO_LARGE;
    return { ok: true, size, test: (text) => pattern.matcher(text).find() };
  } catch (error) {
    return { ok: false, msg: `invalid regular expression: ${error instanceof Error ? error.message : 'not RE2'}` };
  }
}
