const INDENT = 2;
/** What indentation may make of a JSON: in deep lists each value would get a hundred spaces. */
const MOST_TIMES = 4;
const ALWAYS_INDENTED = 20_000;

/** JSON on lines of their own where that makes it at most four times as long, else on one. */
export function linedJson(value: unknown): string {
  const compact = JSON.stringify(value);
  const most = Math.max(ALWAYS_INDENTED, MOST_TIMES * compact.length);
  return compact.length + indentsOf(value, 0) <= most ? JSON.stringify(value, null, INDENT) : compact;
}

/** Characters by which indentation lengthens a JSON. */
function indentsOf(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items: unknown[] = Object.values(value);
  if (items.length === 0) return 0;
  const spaces = Array.isArray(value) ? 0 : items.length;
  const lines = items.length * (1 + INDENT * (depth + 1)) + 1 + INDENT * depth;
  return items.reduce<number>((sum, item) => sum + indentsOf(item, depth + 1), spaces + lines);
}
