/** What comes first, until it has no room together, in bytes; one at least where `least` says so. */
export function firstWithin<T>(
  items: readonly T[],
  bytesOf: (item: T) => number,
  { most, least = 0 }: { most: number; least?: number },
): T[] {
  let room = most;
  const without = items.findIndex((item, index) => (room -= bytesOf(item)) < 0 && index >= least);
  return items.slice(0, without < 0 ? items.length : without);
}
