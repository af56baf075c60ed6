import { z } from 'zod';
import { Values } from './chart-values.ts';

type Schema = { [key: string]: unknown };

/** The JSON Schema that Helm checks values against, as text. */
export function valuesSchema(): string {
  const written = z.toJSONSchema(Values, { target: 'draft-7', io: 'input', unrepresentable: 'any', reused: 'inline' });
  return `${JSON.stringify(withBlocks(loosened(written) as Schema), null, 1)}\n`;
}

/**
 * Values are laid over the chart's, so nothing is required of them, null takes a key away, and a text stands wherever
 * a `${NAME}` may become something else. What is left refuses keys that do not exist and values that make no sense.
 */
function loosened(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(loosened);
  if (typeof node !== 'object' || node === null) return node;
  const { required: _required, default: _default, ...rest } = node as Schema;
  const entries = Object.entries(rest).map(([key, value]) => [
    key,
    key === 'properties' && isMap(value) ? loosenedProperties(value) : loosened(value),
  ]);
  return Object.fromEntries(entries);
}

/**
 * What templates look into must be there: a block that somebody left empty is refused by its name, instead of ending in a
 * template. Inside the services' own configurations nothing has to be.
 */
function withBlocks(schema: Schema): Schema {
  const { properties } = schema;
  if (!isMap(properties)) return schema;
  const blocks = Object.entries(properties).filter(([name, child]) => name !== 'resources' && isBlock(child));
  const whole = blocks.map(([name, child]) => {
    const block = { ...(child as Schema), type: 'object' };
    return [name, name === 'config' ? block : withBlocks(block)];
  });
  const required = blocks.map(([name]) => name);
  const inside = { ...properties, ...Object.fromEntries(whole) };
  return { ...schema, properties: inside, ...(required.length > 0 ? { required } : {}) };
}

const isBlock = (schema: unknown): boolean => isMap(schema) && isMap(schema['properties']);

const isMap = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);

const loosenedProperties = (properties: Schema): Schema =>
  Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, nullable(loosened(schema))]));

function nullable(schema: unknown): unknown {
  if (!isMap(schema)) return schema;
  if (typeof schema['type'] === 'string' && schema['enum'] === undefined)
    return { ...schema, type: [schema['type'], 'null'] };
  return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: 'null' }] };
}
