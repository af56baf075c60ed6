/**
 * The value, with parts of another one in place of equal parts of its own: a schema and a thread answer copies, and a pipeline of a few
 * lines may be large once its library steps are written out.
 */
export function sharing<T>(value: T, like: unknown): T;
export function sharing(value: unknown, like: unknown): unknown {
  if (value === like) return like;
  if (typeof value !== 'object' || typeof like !== 'object' || value === null || like === null) return value;
  if (Array.isArray(value) !== Array.isArray(like)) return value;
  const entries = Object.entries(value).map(([key, part]): [string, unknown] => [key, sharing(part, own(like, key))]);
  const others = Object.entries(like);
  const isEqual =
    entries.length === others.length &&
    entries.every(([key, part], at) => key === others[at]?.[0] && part === others[at]?.[1]);
  if (isEqual) return like;
  return Array.isArray(value) ? entries.map(([, part]) => part) : Object.fromEntries(entries);
}

const own = (holder: object, key: string): unknown =>
  Object.hasOwn(holder, key) ? (holder as Record<string, unknown>)[key] : undefined;
