import type { Schema } from './json-schemas.ts';

const ALLOWED = new Set([
  'type',
  'description',
  'format',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'required',
  'nullable',
  'items',
  'properties',
  'additionalProperties',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-int-or-string',
  'x-kubernetes-validations',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
]);
const NUMBERS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'];
const TYPES = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean']);

/** What the apiserver would refuse in a structural schema without defaults; empty when nothing. */
export function structuralProblems(schema: Schema, path = 'spec'): string[] {
  return [
    ...Object.keys(schema)
      .filter((key) => !ALLOWED.has(key))
      .map((key) => `${path}: ${key} is not allowed`),
    ...typeProblems(schema, path),
    ...containerProblems(schema, path),
    ...boundProblems(schema, path),
    ...children(schema, path).flatMap(([child, at]) => structuralProblems(child, at)),
  ];
}

function typeProblems(schema: Schema, path: string): string[] {
  const { type } = schema;
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const intOrString = schema['x-kubernetes-int-or-string'] === true;
  if (type === undefined) return open || intOrString ? [] : [`${path}: needs a type`];
  if (intOrString) return [`${path}: x-kubernetes-int-or-string stands without a type`];
  return typeof type === 'string' && TYPES.has(type) ? [] : [`${path}: ${JSON.stringify(type)} is no type`];
}

function containerProblems(schema: Schema, path: string): string[] {
  const problems: string[] = [];
  if (schema['type'] === 'array' && (typeof schema['items'] !== 'object' || Array.isArray(schema['items'])))
    problems.push(`${path}: an array needs one items schema`);
  if (schema['properties'] !== undefined && schema['additionalProperties'] !== undefined)
    problems.push(`${path}: properties and additionalProperties exclude each other`);
  if (schema['additionalProperties'] === false) problems.push(`${path}: additionalProperties must not be false`);
  if (schema['properties'] !== undefined && schema['type'] !== 'object')
    problems.push(`${path}: properties need type: object`);
  if (
    schema['x-kubernetes-preserve-unknown-fields'] === true &&
    schema['type'] !== undefined &&
    schema['type'] !== 'object'
  )
    problems.push(`${path}: only objects preserve unknown fields`);
  return problems;
}

function boundProblems(schema: Schema, path: string): string[] {
  const flags = ['exclusiveMinimum', 'exclusiveMaximum'].filter(
    (key) => schema[key] !== undefined && typeof schema[key] !== 'boolean',
  );
  const numbers = NUMBERS.filter((key) => schema[key] !== undefined && !Number.isFinite(schema[key]));
  return [
    ...flags.map((key) => `${path}: ${key} is a boolean in OpenAPI 3.0`),
    ...numbers.map((key) => `${path}: ${key} is no number`),
  ];
}

function children(schema: Schema, path: string): [Schema, string][] {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  const single = (['items', 'additionalProperties'] as const).flatMap((key): [Schema, string][] => {
    const child = schema[key];
    return typeof child === 'object' && child !== null && !Array.isArray(child)
      ? [[child as Schema, `${path}.${key}`]]
      : [];
  });
  return [...properties.map(([key, child]): [Schema, string] => [child, `${path}.${key}`]), ...single];
}
