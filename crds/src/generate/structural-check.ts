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

/** What the apiserver would reject in a structural schema without defaults; empty where there is nothing. */
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

/** Each rule is a sentence and a test for its violation. */
const CONTAINER_RULES: readonly [string, (schema: Schema) => boolean][] = [
  ['an array needs one items schema', (schema) => schema['type'] === 'array' && !isSchema(schema['items'])],
  [
    'properties and additionalProperties exclude each other',
    (schema) => schema['properties'] !== undefined && schema['additionalProperties'] !== undefined,
  ],
  ['additionalProperties must not be false', (schema) => schema['additionalProperties'] === false],
  ['properties need type: object', (schema) => schema['properties'] !== undefined && schema['type'] !== 'object'],
  [
    'only objects preserve unknown fields',
    (schema) =>
      schema['x-kubernetes-preserve-unknown-fields'] === true &&
      ![undefined, 'object'].includes(schema['type'] as string),
  ],
];

function containerProblems(schema: Schema, path: string): string[] {
  return CONTAINER_RULES.filter(([, isBroken]) => isBroken(schema)).map(([msg]) => `${path}: ${msg}`);
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
    return isSchema(child) ? [[child, `${path}.${key}`]] : [];
  });
  return [...properties.map(([key, child]): [Schema, string] => [child, `${path}.${key}`]), ...single];
}
