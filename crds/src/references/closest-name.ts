/** Keys of schemas may be far longer, and comparing takes the square of their length. */
const MAX_CHARS = 128;

/** The name that was probably meant: the nearest one within a typing mistake or two; null where none is near. */
export function closestName(word: string, names: Iterable<string>): string | null {
  if (word.length > MAX_CHARS) return null;
  const allowed = word.length < 7 ? 1 : 2;
  let best: string | null = null;
  let least = allowed + 1;
  for (const name of names) {
    if (Math.abs(name.length - word.length) > allowed || name === word) continue;
    const mistakes = distance(word, name);
    if (mistakes < least) [best, least] = [name, mistakes];
  }
  return best;
}

/** `; did you mean "name"?`, or nothing where no name is near. */
export function didYouMean(word: string, names: Iterable<string>): string {
  const name = closestName(word, names);
  return name === null ? '' : `; did you mean "${name}"?`;
}

/** Insertions, deletions, replacements and exchanges of neighbours that turn one word into the other. */
function distance(a: string, b: string): number {
  const costs = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  const cost = (row: number, col: number) => costs[row]?.[col] ?? Infinity;
  for (let row = 1; row <= a.length; row++) {
    costs.push([row]);
    for (let col = 1; col <= b.length; col++) {
      const replaced = cost(row - 1, col - 1) + (a[row - 1] === b[col - 1] ? 0 : 1);
      const isSwapped = a[row - 1] === b[col - 2] && a[row - 2] === b[col - 1];
      const swapped = isSwapped ? cost(row - 2, col - 2) + 1 : Infinity;
      costs[row]?.push(Math.min(cost(row - 1, col) + 1, cost(row, col - 1) + 1, replaced, swapped));
    }
  }
  return cost(a.length, b.length);
}
