/** Reads JSON so that equal objects and lists in it are one in memory: a definition has its library steps written out at each use. */
export function parseShared(json: string): unknown {
  const known = new Map<string, object>();
  const ids = new Map<unknown, number>();
  const named = (value: unknown): string => {
    if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return String(value);
    const id = ids.get(value) ?? ids.size;
    ids.set(value, id);
    return `#${id}`;
  };
  // What an object holds was read before it.
  return JSON.parse(json, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    const pairs = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${named(item)}`);
    const said = `${Array.isArray(value) ? '[' : '{'}${pairs.join()}`;
    const same = known.get(said) ?? value;
    known.set(said, same);
    return same;
  });
}
