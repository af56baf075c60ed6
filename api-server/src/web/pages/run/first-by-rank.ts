/** As many of `items` as a page has room for, in their order: those of a lower rank come before the others. */
export function firstByRank<T>(items: readonly T[], most: number, rank: (item: T) => number): T[] {
  const kept = new Set(items.toSorted((a, b) => rank(a) - rank(b)).slice(0, most));
  return items.filter((item) => kept.has(item));
}
