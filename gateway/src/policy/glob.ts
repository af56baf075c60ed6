import { findWild } from './find-wild.ts';

/**
 * A glob over a whole name: `*` any run of characters, `?` one character, everything else literal.
 * The parts between stars are looked for one after the other, each where it first occurs, so no pattern is slow.
 */
export function globMatches(glob: string, text: string): boolean {
  const [head = '', ...parts] = glob.split('*');
  const tail = parts.pop();
  let at = beginsWith(head, text);
  if (tail === undefined) return at === text.length;
  for (const part of parts) {
    if (at < 0) return false;
    at = firstEnd(part, text, at);
  }
  return at >= 0 && endsWith(tail, text, at);
}

/** Where a part ends that the text begins with; -1 where it does not. */
function beginsWith(part: string, text: string): number {
  if (!part.includes('?')) return text.startsWith(part) ? part.length : -1;
  let at = 0;
  for (const char of part) {
    const found = text.codePointAt(at);
    if (found === undefined || (char !== '?' && char.codePointAt(0) !== found)) return -1;
    at += found > 0xff_ff ? 2 : 1;
  }
  return at;
}

/** Where the part ends that begins first, at `from` or later; -1 where there is none. */
function firstEnd(part: string, text: string, from: number): number {
  if (part.includes('?')) return findWild(part, text, from)[0] ?? -1;
  const at = text.indexOf(part, from);
  return at < 0 ? -1 : at + part.length;
}

function endsWith(part: string, text: string, from: number): boolean {
  if (part.includes('?')) return findWild(part, text, from).at(-1) === text.length;
  return text.length - part.length >= from && text.endsWith(part);
}
