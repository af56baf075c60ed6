import { withoutNull } from './fold.ts';

/** The part of JSON Schema that the contract's schemas use. */
export interface Schema {
  type?: string | string[];
  description?: string;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minItems?: number;
  maxItems?: number;
  maxLength?: number;
  pattern?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

export interface Row {
  key: string;
  type: string;
  fallback: string;
  meaning: string;
}

const REQUIRED = '**required**';

export const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export const variants = (schema: Schema): Schema[] => {
  const inner = schema.anyOf ?? schema.oneOf;
  return inner && inner.every(({ type, anyOf, oneOf }) => type === 'object' || anyOf || oneOf)
    ? inner.flatMap(variants)
    : [schema];
};

/** The keys of a schema, those of its inner objects after it. */
export function rows(schema: Schema, prefix = ''): Row[] {
  const { properties = {}, required = [] } = schema;
  const seen: Schema[] = [];
  return Object.entries(properties).flatMap(([key, value]) => {
    const path = `${prefix}${key}`;
    const needed = required.includes(key);
    const own: Row = {
      key: path,
      type: typeOf(value),
      fallback: fallback(value, needed),
      meaning: sentence(value.description ?? ''),
    };
    // Keys of siblings with the same schema, such as the events of notifications, are listed once.
    const repeated = seen.some((other) => same({ ...other, description: '' }, { ...value, description: '' }));
    seen.push(value);
    return repeated ? [own] : [own, ...nested(withoutNull(value) ?? value, path)];
  });
}

function nested(schema: Schema, path: string): Row[] {
  if (schema.properties) return rows(schema, `${path}.`);
  const { items, additionalProperties: named } = schema;
  if (typeof named === 'object' && schema.type === 'object') return nested(named, `${path}.NAME`);
  if (items?.properties) return rows(items, `${path}[].`);
  const shapes = variants(items ?? schema).filter(({ properties }) => properties);
  if (shapes.length === 0 || isSteps(shapes)) return [];
  const prefix = items ? `${path}[].` : `${path}.`;
  return merged(shapes.flatMap((shape) => rows(shape, prefix).map((row) => asAlternative(row, prefix, shape, shapes))));
}

/** A key that only one alternative requires: it is that alternative's mark, or is required beside the mark. */
function asAlternative(row: Row, prefix: string, shape: Schema, shapes: Schema[]): Row {
  if (row.fallback !== REQUIRED) return row;
  const marks = shapes.map((one) => ownRequired(one, shapes)[0]);
  const key = row.key.slice(prefix.length);
  if (marks.includes(undefined) || !ownRequired(shape, shapes).includes(key)) return row;
  const mark = marks[shapes.indexOf(shape)] ?? key;
  return { ...row, fallback: key === mark ? `one of ${marks.map(code).join(' ')}` : `with ${code(mark)} ${REQUIRED}` };
}

const ownRequired = (shape: Schema, shapes: Schema[]): string[] =>
  (shape.required ?? []).filter((key) => shapes.every((other) => other === shape || !other.required?.includes(key)));

/** Alternatives of one place: their keys together, each once, with all its types. */
function merged(list: Row[]): Row[] {
  const byKey = new Map<string, Row>();
  for (const row of list) {
    const known = byKey.get(row.key);
    const or = known?.type.endsWith('`') ? ' ' : ' or ';
    const type = known && known.type !== row.type ? `${known.type}${or}${row.type}` : row.type;
    byKey.set(row.key, { ...(known ?? row), type });
  }
  return [...byKey.values()];
}

const isSteps = (shapes: Schema[]): boolean =>
  shapes.some(({ properties }) => properties?.['executor']?.const !== undefined);

function typeOf(schema: Schema): string {
  const present = withoutNull(schema);
  if (present) return `${typeOf(present)}, or null`;
  const words = [schema.const ?? schema.enum ?? []].flat();
  if (words.length > 0) return words.map(code).join(' ');
  const shapes = variants(schema);
  if (shapes.length > 1 && isSteps(shapes)) return 'a step';
  const alternatives = shapes.length > 1 ? shapes : (schema.anyOf ?? schema.oneOf);
  return alternatives ? [...new Set(alternatives.map(typeOf))].join(' or ') : plainType(schema);
}

function plainType(schema: Schema): string {
  switch (schema.type) {
    case undefined:
      return 'anything';
    case 'array':
      return listType(schema);
    case 'object':
      return schema.properties ? 'map of the keys below' : 'map';
    case 'integer':
    case 'number':
      return `${schema.type}${range(schema)}`;
    default:
      return [schema.type].flat().join(' or ');
  }
}

function listType({ items, minItems, maxItems }: Schema): string {
  const of = items ? variants(items) : [];
  const kind = isSteps(of) ? 'steps' : items ? typeOf(items) : 'anything';
  const bounds = maxItems === undefined ? '' : `, ${minItems ?? 0} to ${maxItems}`;
  return `list of ${kind}${bounds}`;
}

function range({ minimum, maximum, exclusiveMinimum }: Schema): string {
  const low = exclusiveMinimum === undefined ? minimum : `over ${exclusiveMinimum}`;
  const bounded = (value: number | string | undefined) =>
    value !== undefined && Math.abs(Number(value)) < Number.MAX_SAFE_INTEGER;
  if (bounded(maximum)) return ` ${low ?? ''} to ${String(maximum)}`;
  return exclusiveMinimum === undefined ? '' : ` ${String(low)}`;
}

function fallback({ default: value }: Schema, needed: boolean): string {
  if (value !== undefined && JSON.stringify(value).length < 40) return code(value);
  return needed && value === undefined ? REQUIRED : '';
}

const code = (value: unknown): string => `\`${typeof value === 'string' ? value || '""' : JSON.stringify(value)}\``;
export const sentence = (text: string): string => (text ? `${text[0]?.toUpperCase()}${text.slice(1)}` : '');
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** The rows as a Markdown table. */
export function table(list: Row[]): string {
  const lines = list.map(
    ({ key, type, fallback: value, meaning }) => `| \`${key}\` | ${cell(type)} | ${cell(value)} | ${cell(meaning)} |`,
  );
  return `${['| key | type | default | meaning |', '| --- | --- | --- | --- |', ...lines].join('\n')}\n`;
}
