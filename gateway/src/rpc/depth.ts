/** Whether a parsed JSON value nests deeper than `max` levels. Does not recurse. */
export function nestsDeeper(value: unknown, max: number): boolean {
  let level = isNested(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= max) return true;
    level = level.flatMap((item) => Object.values(item).filter((child) => isNested(child)));
  }
  return false;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
