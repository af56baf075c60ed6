import { expressionPaths } from '@signalbox/crds';

type Values = Readonly<Record<string, unknown>>;

/** The names that an expression reads, each with the keys under it; null where it may read all of them. */
export type Reads = ReadonlyMap<string, ReadonlySet<string> | null>;

export function readsOf(source: string): Reads {
  const reads = new Map<string, Set<string> | null>();
  for (const { parts } of expressionPaths(source)) {
    const [name = '', key] = parts;
    const keys = reads.get(name);
    if (key === undefined || keys === null) reads.set(name, null);
    else reads.set(name, (keys ?? new Set()).add(key));
  }
  return reads;
}

/** What is read of the values: to look through all of an alert's data and to copy it to a thread takes far longer than to compare a part. */
export function readValues(values: Values, reads: Reads): Values {
  return pick(values, reads.keys(), (name) => {
    const [value, keys = null] = [values[name], reads.get(name)];
    return keys !== null && isMap(value) ? pick(value, keys, (key) => value[key]) : value;
  });
}

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

const pick = (values: Values, names: Iterable<string>, valueOf: (name: string) => unknown): Values =>
  Object.fromEntries([...names].filter((name) => Object.hasOwn(values, name)).map((name) => [name, valueOf(name)]));
