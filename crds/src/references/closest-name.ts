/** Keys of schemas may be far longer. */
const MAX_CHARS = 128;

/** The name that was probably meant: the nearest one within a typing mistake or two; null where none is near. */
export function closestName(word: string, names: Iterable<string>): string | null {
  if (word.length > MAX_CHARS) return null;
  const allowed = word.length < 7 ? 1 : 2;
  let best: string | null = null;
  let least = allowed + 1;
  for (const name of names) {
    if (Math.abs(name.length - word.length) > allowed || name === word) continue;
    const found = mistakes(word, name, allowed);
    if (found < least) [best, least] = [name, found];
  }
  return best;
}

/** `; did you mean "name"?`, or nothing where no name is near. */
export function didYouMean(word: string, names: Iterable<string>): string {
  const name = closestName(word, names);
  return name === null ? '' : `; did you mean "${name}"?`;
}

/** Names that are compared, and characters of those that they are compared with: looking for what was meant in a large set takes seconds. */
const MOST_COMPARED = 200;
const MOST_CHARS = 1_000_000;

/** `didYouMean` for many names that are missing in the same set: each is compared once, and no more of them than that. */
export function suggestions(names: ReadonlySet<string>): (word: string) => string {
  const known = new Map<string, string>();
  let chars = 0;
  function* counted() {
    for (const name of names) {
      chars += name.length;
      yield name;
    }
  }
  return (word) => {
    const isCompared = known.size < MOST_COMPARED && chars < MOST_CHARS;
    const found = known.get(word) ?? (isCompared ? didYouMean(word, counted()) : '');
    known.set(word, found);
    return found;
  };
}

/**
 * Insertions, deletions, replacements and exchanges of neighbours that turn one word into the other; more than `allowed` where
 * they are that many. Equal characters are passed over, so that it takes the length of the words, not its square.
 */
function mistakes(a: string, b: string, allowed: number): number {
  const shorter = Math.min(a.length, b.length);
  let at = 0;
  while (at < shorter && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  if (at === shorter) return Math.max(a.length, b.length) - at;
  if (allowed === 0) return 1;
  const after = (inA: number, inB: number) => 1 + mistakes(a.slice(at + inA), b.slice(at + inB), allowed - 1);
  const isSwapped = a[at] === b[at + 1] && a[at + 1] === b[at];
  return Math.min(after(1, 1), after(1, 0), after(0, 1), isSwapped ? after(2, 2) : Infinity);
}
