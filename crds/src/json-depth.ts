/** Whether a parsed JSON value nests deeper than `max` levels. Does not recurse. */
export function nestsDeeper(value: unknown, max: number): boolean {
  let level = isNested(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= max) return true;
    level = below(level);
  }
  return false;
}

/** The objects and arrays that lie directly in these; a loop, because it runs for every frame of `/rpc`. */
function below(level: readonly object[]): object[] {
  const found: object[] = [];
  for (const item of level) {
    for (const child of Object.values(item)) if (isNested(child)) found.push(child);
  }
  return found;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
