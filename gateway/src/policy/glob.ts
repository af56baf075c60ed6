/**
 * A glob over a whole name: `*` any run of characters, `?` one character, everything else literal.
 * Matches in one pass with a single backtrack point, so no pattern is slow.
 */
export function globMatches(glob: string, text: string): boolean {
  const pattern = [...glob];
  const name = [...text];
  let at = 0;
  let index = 0;
  let star = -1;
  let resume = 0;
  while (index < name.length) {
    if (pattern[at] === '*') {
      star = at;
      at += 1;
      resume = index;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === name[index])) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      resume += 1;
      index = resume;
      at = star + 1;
    } else {
      return false;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
