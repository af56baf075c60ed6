import type { DefinitionKind } from '../problem.ts';

/** The part of JSON Schema that the contract's schemas use. */
interface Schema {
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

interface Row {
  key: string;
  type: string;
  fallback: string;
  meaning: string;
}

const INTRO = `# Pipelines, library steps and agents: every key

<!-- Generated from crds/src by \`npm run generate\`. Do not edit. -->

A file holds one definition; a Kubernetes object's \`spec\` is the same body. Unknown keys are errors, and every error names its
line: \`npm run validate -- PATH\` checks as the services would. Texts called *template* are Handlebars, those called *CEL* are
expressions; both see \`summary severity source pipeline_name run_id team stage labels annotations metadata vars steps context
fan_out run now\`. \`steps.<name>\` has \`status summary confidence trust output next_step_context\`.
`;

/** The reference of the definition language, as Markdown. */
export function reference(schemas: Record<DefinitionKind, unknown>): string {
  const pipeline = schemas.Pipeline as Schema;
  const { steps, ...keys } = pipeline.properties ?? {};
  const shapes = steps?.items ? variants(steps.items) : [];
  const own = shapes.filter(
    ({ properties }) => properties?.['executor'] ?? properties?.['parallel'] ?? properties?.['fan_out'],
  );
  const shared = sharedKeys(own);
  return [
    INTRO,
    '## Pipeline\n',
    'Names a pipeline, what starts it and what it may spend. `steps` is described below.\n',
    table(rows({ ...pipeline, properties: keys })),
    '## Steps\n',
    "Every entry of `steps` has a `name`, unique in its pipeline, and exactly one of the shapes below. At most 64 entries. With\n`use: NAME` an entry takes over a library step, and its own keys win over that step's. Every shape also takes these keys:\n",
    table(rows({ properties: shared })),
    ...withoutTwins(own).map((shape) => stepSection(shape, new Set(Object.keys(shared)))),
    '## Library step\n',
    'One executor step in a file of its own: these keys beside those of its executor.\n',
    table(libraryRows(schemas.LibraryStep as Schema)),
    '## Agent\n',
    "The keys of `agent.yaml`; the prompt stands beside it in `soul.md` (in a Kubernetes object: `spec.soul`). An agent's version is a\nhash of what changes its behaviour: not of `description`, `tags` and `runtime`.\n",
    table(rows(schemas.Agent as Schema)),
  ].join('\n');
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Keys that every shape of a step has. */
function sharedKeys(shapes: Schema[]): Record<string, Schema> {
  const [first, ...others] = shapes.map(({ properties = {} }) => properties);
  return Object.fromEntries(
    Object.entries(first ?? {}).filter(([key, value]) => others.every((properties) => same(properties[key], value))),
  );
}

/** Executors that take the same keys share a section. */
function withoutTwins(shapes: Schema[]): Schema[] {
  const keysOf = ({ properties = {} }: Schema) => Object.entries(properties).filter(([key]) => key !== 'executor');
  return shapes.flatMap((shape, at) => {
    const twin = shapes.findIndex((other) => same(keysOf(other), keysOf(shape)));
    if (twin < at) return [];
    const executors = shapes
      .filter((other) => same(keysOf(other), keysOf(shape)))
      .map(({ properties }) => properties?.['executor']?.const);
    return [
      executors.length < 2 ? shape : { ...shape, properties: { ...shape.properties, executor: { enum: executors } } },
    ];
  });
}

const variants = (schema: Schema): Schema[] => {
  const inner = schema.anyOf ?? schema.oneOf;
  return inner && inner.every(({ type, anyOf, oneOf }) => type === 'object' || anyOf || oneOf)
    ? inner.flatMap(variants)
    : [schema];
};

function stepSection({ properties = {}, ...schema }: Schema, shared: ReadonlySet<string>): string {
  const { executor, ...keys } = properties;
  const own = Object.fromEntries(Object.entries(keys).filter(([key]) => !shared.has(key)));
  const about = executor?.description === undefined ? '' : `${sentence(executor.description)}.\n\n`;
  return `### ${titleOf(properties)}\n\n${about}${table(rows({ ...schema, properties: own }))}`;
}

function titleOf({ executor, parallel }: Record<string, Schema>): string {
  if (executor)
    return [executor.const ?? executor.enum ?? []]
      .flat()
      .map((name) => `\`executor: ${String(name)}\``)
      .join(' and ');
  return parallel ? '`parallel`: branches at the same time' : '`fan_out`: one branch an item of a list';
}

/** A library step is one of the executor steps; what is its own is what they all have beside their executors. */
function libraryRows(schema: Schema): Row[] {
  const [first = {}] = variants(schema);
  const own = ['name', 'description', 'tags'].flatMap((key) => {
    const found = first.properties?.[key];
    return found ? [[key, found] as const] : [];
  });
  return rows({ ...first, properties: Object.fromEntries(own) });
}

function rows(schema: Schema, prefix = ''): Row[] {
  const { properties = {}, required = [] } = schema;
  const told: Schema[] = [];
  return Object.entries(properties).flatMap(([key, value]) => {
    const path = `${prefix}${key}`;
    const needed = required.includes(key);
    const own: Row = {
      key: path,
      type: typeOf(value),
      fallback: fallback(value, needed),
      meaning: sentence(value.description ?? ''),
    };
    // Siblings of one form, such as the events of notifications, tell their keys once.
    const repeated = told.some((other) => same({ ...other, description: '' }, { ...value, description: '' }));
    told.push(value);
    return repeated ? [own] : [own, ...nested(value, path)];
  });
}

function nested(schema: Schema, path: string): Row[] {
  if (schema.properties) return rows(schema, `${path}.`);
  const { items } = schema;
  if (items?.properties) return rows(items, `${path}[].`);
  const shapes = variants(items ?? schema).filter(({ properties }) => properties);
  if (shapes.length === 0 || isSteps(shapes)) return [];
  return merged(shapes.flatMap((shape) => rows(shape, items ? `${path}[].` : `${path}.`)));
}

/** Alternatives of one place: their keys together, each once, with all its types. */
function merged(list: Row[]): Row[] {
  const byKey = new Map<string, Row>();
  for (const row of list) {
    const known = byKey.get(row.key);
    const type = known && known.type !== row.type ? `${known.type} ${row.type}` : row.type;
    byKey.set(row.key, { ...(known ?? row), type });
  }
  return [...byKey.values()];
}

const isSteps = (shapes: Schema[]): boolean =>
  shapes.some(({ properties }) => properties?.['executor']?.const !== undefined);

function typeOf(schema: Schema): string {
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
      return [schema.type].flat().map(word).join(' or ');
  }
}

const word = (type: string): string => (type === 'string' ? 'text' : type);

function listType({ items, minItems, maxItems }: Schema): string {
  const of = items ? variants(items) : [];
  const kind = isSteps(of) ? 'steps' : items ? typeOf(items) : 'anything';
  const bounds = maxItems === undefined ? '' : `, ${minItems ?? 0} to ${maxItems}`;
  return `list of ${kind}${bounds}`;
}

function range({ minimum, maximum, exclusiveMinimum }: Schema): string {
  const low = exclusiveMinimum === undefined ? minimum : `over ${exclusiveMinimum}`;
  const bounded = (value: number | string | undefined) =>
    value !== undefined && Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER;
  if (bounded(maximum)) return ` ${low ?? ''} to ${String(maximum)}`;
  return exclusiveMinimum === undefined ? '' : ` ${String(low)}`;
}

function fallback({ default: value }: Schema, needed: boolean): string {
  if (value !== undefined && JSON.stringify(value).length < 40) return code(value);
  return needed && value === undefined ? '**needed**' : '';
}

const code = (value: unknown): string => `\`${typeof value === 'string' ? value || '""' : JSON.stringify(value)}\``;
const sentence = (text: string): string => (text ? `${text[0]?.toUpperCase()}${text.slice(1)}` : '');
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

function table(list: Row[]): string {
  const lines = list.map(
    ({ key, type, fallback: value, meaning }) => `| \`${key}\` | ${cell(type)} | ${cell(value)} | ${cell(meaning)} |`,
  );
  return `${['| key | type | default | meaning |', '| --- | --- | --- | --- |', ...lines].join('\n')}\n`;
}
