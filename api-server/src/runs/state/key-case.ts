export type CamelKey<Key> = Key extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelKey<Rest>>}` : Key;
type SnakeKey<Key> = Key extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeKey<Rest>}`
  : Key;

type CamelCase<T> = { [K in keyof T as CamelKey<K>]: T[K] };
type SnakeCase<T> = { [K in keyof T as SnakeKey<K>]: T[K] };

const cached = (rename: (key: string) => string) => {
  const known = new Map<string, string>();
  return (key: string): string => {
    const name = known.get(key) ?? rename(key);
    known.set(key, name);
    return name;
  };
};

export const camelKey = cached((key) => key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()));
const snakeKey = cached((key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

/** A row under the keys that the code has for its columns; keys of nested objects stay as they are. */
export const camelCase = <T extends object>(row: T): CamelCase<T> => renamed(row, camelKey) as CamelCase<T>;

/** The row of an object; keys of nested objects stay as they are. */
export const snakeCase = <T extends object>(object: T): SnakeCase<T> => renamed(object, snakeKey) as SnakeCase<T>;

function renamed(object: object, rename: (key: string) => string): object {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) result[rename(key)] = value;
  return result;
}
