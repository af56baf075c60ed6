import { z } from 'zod';
import { didYouMean } from '../references/closest-name.ts';

/** `; did you mean "name"?` for a key that a schema does not know. A key that it has elsewhere is not a mistake in writing. */
export function meantKey(key: string, schema: z.ZodType): string {
  const keys = keysOf(schema);
  return keys.has(key) ? '' : didYouMean(key, keys);
}

const known = new WeakMap<z.ZodType, ReadonlySet<string>>();

/** Every key that a schema names at any depth; found once, with the first mistake. */
function keysOf(schema: z.ZodType): ReadonlySet<string> {
  const found =
    known.get(schema) ?? new Set(keysBelow(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })));
  known.set(schema, found);
  return found;
}

function keysBelow(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  if (Array.isArray(node)) return node.flatMap(keysBelow);
  const own = 'properties' in node ? Object.keys(node.properties ?? {}) : [];
  return [...own, ...Object.values(node).flatMap(keysBelow)];
}
