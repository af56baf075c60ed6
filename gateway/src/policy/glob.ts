import { compileWild } from './wild-glob.ts';

export type MatchGlob = (text: string) => boolean;

/** A glob over a whole name: `*` any run of characters, `?` one character, everything else literal. No glob is slow. */
export function compileGlob(glob: string): MatchGlob {
  if (glob.includes('?')) return compileWild(glob);
  const [head = '', ...parts] = glob.split('*');
  const tail = parts.pop();
  if (tail === undefined) return (text) => text === head;
  return (text) => {
    if (!text.startsWith(head)) return false;
    let at = head.length;
    for (const part of parts) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.length - tail.length >= at && text.endsWith(tail);
  };
}

export const globMatches = (glob: string, text: string): boolean => compileGlob(glob)(text);
