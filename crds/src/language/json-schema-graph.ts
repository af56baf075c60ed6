/** The part of a value that a subschema reads: `.` and `[` begin a key and an item; `.*` and `[*]` are any of them. */
export type Selector = `.${string}` | `[${string}`;

/** A schema object. */
export interface Vertex {
  /** Subschemas for the same value: alternatives, conditions, what `$ref` names. */
  inPlace: Vertex[];
  /** Subschemas for parts of the value. */
  parts: { selector: Selector; to: Vertex }[];
  /** How many values it holds without its subschemas; keywords that read a whole list or text weigh more. */
  weight: number;
}

export interface Graph {
  root: Vertex;
  vertices: Vertex[];
  /** What each reference names, as it is written, but the root. */
  referenced: Map<string, SchemaObject>;
}

type SchemaObject = Record<string, unknown>;

/** Each keyword with subschemas: the part that they read, by the name of the subschema; null where it is the same value. */
const KEYWORDS = new Map<string, ((name: string) => Selector) | null>([
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'].map(
    (keyword) => [keyword, null] as const,
  ),
  ['properties', (name) => `.=${name}`],
  ...['patternProperties', 'additionalProperties', 'unevaluatedProperties', 'propertyNames'].map(
    (keyword) => [keyword, (): Selector => '.*'] as const,
  ),
  ['prefixItems', (index) => `[${index}`],
  ...['items', 'additionalItems', 'contains', 'unevaluatedItems'].map(
    (keyword) => [keyword, (): Selector => '[*]'] as const,
  ),
]);
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies']);
const DEFINITIONS = new Set(['$defs', 'definitions']);
const HEAVY = new Set(['uniqueItems', 'pattern']);
const HEAVY_WEIGHT = 64;

class Refused extends Error {}

/** The subschemas of a schema and the ways between them. Only references within the schema, by JSON pointer, are followed. */
export function graphOf(schema: object): ({ ok: true } & Graph) | { ok: false; msg: string } {
  const known = new Map<object, Vertex>();
  const referenced = new Map<string, SchemaObject>();
  const waiting: [SchemaObject, Vertex][] = [];
  const vertexOf = (value: unknown): Vertex => {
    // `true`, `false`, and names in `dependencies`.
    if (!isObject(value)) return { inPlace: [], parts: [], weight: valuesIn(value) };
    const found = known.get(value);
    if (found) return found;
    const fresh: Vertex = { inPlace: [], parts: [], weight: 1 };
    known.set(value, fresh);
    waiting.push([value, fresh]);
    return fresh;
  };
  const followed = (ref: unknown): Vertex[] => {
    const target = named(schema, ref);
    if (!isObject(target)) return [];
    if (target !== schema) referenced.set(String(ref), target);
    return [vertexOf(target)];
  };
  try {
    const root = vertexOf(schema);
    for (let next = waiting.pop(); next; next = waiting.pop()) connect(next, vertexOf, followed);
    return { ok: true, root, vertices: [...known.values()], referenced };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, msg: error.message };
    throw error;
  }
}

function connect(
  [schema, vertex]: [SchemaObject, Vertex],
  vertexOf: (value: unknown) => Vertex,
  followed: (ref: unknown) => Vertex[],
): void {
  for (const [keyword, value] of Object.entries(schema)) {
    vertex.weight += HEAVY_WEIGHT * heavyParts(keyword, value);
    const select = KEYWORDS.get(keyword);
    if (keyword === '$ref') vertex.inPlace.push(...followed(value));
    else if (keyword === '$dynamicRef' || keyword === '$recursiveRef') throw new Refused(`${keyword} is not available`);
    else if (select === undefined) vertex.weight += DEFINITIONS.has(keyword) ? 0 : valuesIn(value);
    else if (select === null) vertex.inPlace.push(...subschemas(keyword, value).map(([, inner]) => vertexOf(inner)));
    else
      for (const [name, inner] of subschemas(keyword, value))
        vertex.parts.push({ selector: select(name), to: vertexOf(inner) });
  }
}

/** Each pattern of a map is compiled, and reads every key of a value. */
function heavyParts(keyword: string, value: unknown): number {
  if (keyword === 'patternProperties' && isObject(value)) return Object.keys(value).length;
  return HEAVY.has(keyword) ? 1 : 0;
}

/** A list or a map of schemas, or one schema. */
function subschemas(keyword: string, value: unknown): [string, unknown][] {
  return Array.isArray(value) || (MAPS.has(keyword) && isObject(value)) ? Object.entries(value) : [['', value]];
}

/** ajv decodes a reference, and ends it before a second `#` and a separator of lines. A `~` alone would be a second way to write `~0`. */
const READ_OTHERWISE = /[#%\u2028\u2029]|~(?![01])/;

function named(root: unknown, ref: unknown): unknown {
  if (typeof ref !== 'string') return undefined;
  if (ref === '#') return root;
  if (!ref.startsWith('#/') || ref === '#/' || READ_OTHERWISE.test(ref.slice(1)))
    throw new Refused(`only references of the form #/$defs/name are available, not ${ref.slice(0, 100)}`);
  let at = root;
  for (const part of ref.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key))
      throw new Refused(`can't resolve reference ${ref.slice(0, 100)}`);
    at = (at as SchemaObject)[key];
  }
  return at;
}

export function valuesIn(value: unknown): number {
  let count = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    count += 1;
    if (typeof next === 'object' && next !== null) for (const item of Object.values(next)) waiting.push(item);
  }
  return count;
}

function isObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
