/** The parts of a JSON schema in an OpenAPI description that the page shows. */
export interface Schema {
  $ref?: string;
  title?: string;
  type?: string | string[];
  format?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  examples?: unknown[];
}

/** A type in words; `name` is the component that it is or contains. */
export interface TypeWords {
  text: string;
  name: string | null;
}

export interface Field extends TypeWords {
  path: string;
  required: boolean;
}

const MAX_VALUES = 12;

export const nameOf = ({ $ref }: Schema): string | null => $ref?.split('/').at(-1) ?? null;
const variantsOf = ({ anyOf, oneOf, allOf }: Schema): Schema[] => anyOf ?? oneOf ?? allOf ?? [];

export function typeWords(schema: Schema): TypeWords {
  const name = nameOf(schema);
  if (name !== null) return { text: name, name };
  if (schema.items) return around(schema.items, (text) => (text.includes(' | ') ? `(${text})[]` : `${text}[]`));
  const variants = variantsOf(schema);
  if (variants.length > 0) return unionWords(variants.map(typeWords));
  if (schema.enum) return { text: valuesText(schema.enum), name: null };
  if (schema.const !== undefined) return { text: JSON.stringify(schema.const), name: null };
  if (typeof schema.additionalProperties === 'object' && !schema.properties)
    return around(schema.additionalProperties, (text) => `map of ${text}`);
  const type = [schema.type ?? 'any'].flat().join(' | ');
  return { text: schema.format === undefined ? type : `${type} (${schema.format})`, name: null };
}

function around(inner: Schema, words: (text: string) => string): TypeWords {
  const { text, name } = typeWords(inner);
  return { text: words(text), name };
}

const unionWords = (parts: TypeWords[]): TypeWords => ({
  text: [...new Set(parts.map(({ text }) => text))].join(' | '),
  name: parts.find(({ name }) => name !== null)?.name ?? null,
});

const valuesText = (values: unknown[]): string => {
  const shown = values.slice(0, MAX_VALUES).map((value) => JSON.stringify(value));
  return [...shown, ...(values.length > MAX_VALUES ? ['…'] : [])].join(' | ');
};

/** The fields of an object, with those of nested objects that are not components. */
export function fieldsOf({ properties = {}, required = [] }: Schema, prefix = ''): Field[] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const path = `${prefix}${key}`;
    const inner = unnamedObject(schema);
    return [
      { path, required: required.includes(key), ...typeWords(schema) },
      ...(inner ? fieldsOf(inner, `${path}${schema.items ? '[]' : ''}.`) : []),
    ];
  });
}

/** Of the schema itself, of its items, or of what it is when it is not null. */
function unnamedObject(schema: Schema): Schema | null {
  if (schema.properties) return schema;
  const [given, ...others] = variantsOf(schema).filter(({ type }) => type !== 'null');
  const inner = schema.items ?? (others.length === 0 ? given : undefined);
  return inner ? unnamedObject(inner) : null;
}

/** The shapes that a schema allows: one of an object, several of a union. */
export function shapesOf(schema: Schema) {
  const variants = variantsOf(schema);
  const shapes = variants.length === 0 ? [schema] : variants;
  return shapes.map((shape, index) => ({
    label: variants.length === 0 ? null : (shape.title ?? markOf(shape) ?? nameOf(shape) ?? `variant ${index + 1}`),
    fields: fieldsOf(shape),
  }));
}

/** The discriminating field of a variant: the one with a single value. */
function markOf({ properties = {} }: Schema): string | null {
  const found = Object.entries(properties).find(([, { const: value }]) => value !== undefined);
  return found ? `${found[0]}: ${JSON.stringify(found[1].const)}` : null;
}
