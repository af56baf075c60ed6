const SUMMARY = 'Demo answer: no language model was asked. Configure a provider to get real ones.';
const MAX_DEPTH = 8;

/** An answer that meets the contract and the simple parts of a schema: placeholders for its required keys. */
export function defaultAnswer(schema: unknown): Record<string, unknown> {
  const required = isObject(schema) ? placeholder(schema, 0) : {};
  return { ...(isObject(required) ? required : {}), confidence: 0.5, summary: SUMMARY };
}

function placeholder(schema: unknown, depth: number): unknown {
  if (!isObject(schema) || depth > MAX_DEPTH) return null;
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0] ?? null;
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'string':
      return 'demo';
    case 'integer':
    case 'number':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 0;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return requiredOf(schema, depth);
    default:
      return null;
  }
}

function requiredOf(schema: Record<string, unknown>, depth: number): Record<string, unknown> {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const names = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.fromEntries(names.map((name) => [String(name), placeholder(properties[String(name)], depth + 1)]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
