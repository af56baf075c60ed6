import { fold, withoutNull } from './fold.ts';
import type { Schema } from './json-schemas.ts';

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
const COPIED = [
  'description',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'maxProperties',
  'required',
] as const;

/**
 * A JSON Schema as a structural schema of the apiserver: unions folded, no defaults, and unknown keys kept at every
 * level, so that a misspelt key reaches the contract and is reported as a condition instead of being removed.
 */
export function toStructural(schema: Schema): Schema {
  const present = withoutNull(schema);
  if (present) return { ...toStructural(present), nullable: true };
  const folded = fold(schema);
  const { type } = folded;
  const described = typeof folded['description'] === 'string' ? { description: folded['description'] } : {};
  if (isIntOrString(schema)) return { ...described, 'x-kubernetes-int-or-string': true };
  if (typeof type !== 'string') return { ...described, [PRESERVE]: true };
  const kept = Object.fromEntries(COPIED.filter((key) => folded[key] !== undefined).map((key) => [key, folded[key]]));
  return { type, ...kept, ...constant(folded), ...numbers(folded), ...items(folded), ...members(folded) };
}

function isIntOrString(schema: Schema): boolean {
  const branches = (schema['anyOf'] ?? []) as Schema[];
  const types = new Set(branches.map((branch) => branch['type']));
  return branches.length === 2 && types.has('integer') && types.has('string');
}

function constant(schema: Schema): Schema {
  return 'const' in schema ? { enum: [schema['const']] } : {};
}

function numbers(schema: Schema): Schema {
  const bound = (key: 'minimum' | 'maximum', exclusive: 'exclusiveMinimum' | 'exclusiveMaximum'): Schema => {
    const open = schema[exclusive];
    const closed = schema[key];
    if (typeof open === 'number') return { [key]: open, [exclusive]: true };
    return typeof closed === 'number' && Math.abs(closed) < Number.MAX_SAFE_INTEGER ? { [key]: closed } : {};
  };
  return { ...bound('minimum', 'exclusiveMinimum'), ...bound('maximum', 'exclusiveMaximum') };
}

function items(schema: Schema): Schema {
  return schema['type'] === 'array' ? { items: toStructural((schema['items'] ?? {}) as Schema) } : {};
}

function members(schema: Schema): Schema {
  if (schema['type'] !== 'object') return {};
  const properties = schema['properties'] as Record<string, Schema> | undefined;
  if (properties) {
    const entries = Object.entries(properties).map(([key, property]) => [key, toStructural(property)]);
    return { properties: Object.fromEntries(entries) as Schema, [PRESERVE]: true };
  }
  const values = schema['additionalProperties'];
  const open = typeof values !== 'object' || values === null || Object.keys(values).length === 0;
  return open ? { [PRESERVE]: true } : { additionalProperties: toStructural(values as Schema) };
}
