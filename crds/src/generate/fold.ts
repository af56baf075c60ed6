type Schema = Record<string, unknown>;

/**
 * One object schema that accepts everything its branches accept: properties of all, required by all. A property with different
 * schemas keeps what they agree on. Non-object unions become "anything" (`{}`).
 */
export function fold(schema: Schema): Schema {
  const branches = branchesOf(schema);
  if (!branches) return schema;
  const folded = branches.map(fold);
  const own = schema['description'] === undefined ? {} : { description: schema['description'] };
  if (!folded.every((branch) => branch['type'] === 'object' && branch['properties']))
    return { ...own, ...scalars(folded) };
  return {
    ...own,
    type: 'object',
    properties: mergeProperties(folded),
    ...mergeRequired(folded),
    additionalProperties: false,
  };
}

/** What may stand in place of null; undefined where null may not. */
export function withoutNull<S extends { anyOf?: unknown; description?: unknown }>(schema: S): S | undefined {
  const branches = Array.isArray(schema.anyOf) ? (schema.anyOf as Schema[]) : [];
  const present = branches.filter(({ type }) => type !== 'null');
  if (present.length === branches.length || present.length !== 1) return undefined;
  const own = schema.description === undefined ? {} : { description: schema.description };
  return { ...present[0], ...own } as unknown as S;
}

function branchesOf(schema: Schema): Schema[] | null {
  const branches = schema['oneOf'] ?? schema['anyOf'];
  return Array.isArray(branches) ? (branches as Schema[]) : null;
}

function mergeProperties(branches: readonly Schema[]): Record<string, Schema> {
  const merged = new Map<string, Schema>();
  for (const branch of branches)
    for (const [key, property] of Object.entries(branch['properties'] as Record<string, Schema>)) {
      const known = merged.get(key);
      merged.set(key, known ? agree(known, property) : property);
    }
  return Object.fromEntries(merged);
}

function mergeRequired(branches: readonly Schema[]): Schema {
  const [first = [], ...rest] = branches.map((branch) => (branch['required'] ?? []) as string[]);
  const required = first.filter((key) => rest.every((keys) => keys.includes(key)));
  return required.length > 0 ? { required } : {};
}

/** The keywords both schemas share; a list of values and a `const` are joined, bounds are widened. */
function agree(a: Schema, b: Schema): Schema {
  if (JSON.stringify(a) === JSON.stringify(b)) return a;
  const values = [...valuesOf(a), ...valuesOf(b)];
  if (a['type'] === b['type'] && valuesOf(a).length > 0 && valuesOf(b).length > 0)
    return { type: a['type'], enum: [...new Set(values)], ...joinDescriptions(a, b) };
  const both = fold({ anyOf: [a, b] });
  return Object.keys(both).length > 0 ? { ...both, ...joinDescriptions(a, b) } : joinDescriptions(a, b);
}

function valuesOf(schema: Schema): unknown[] {
  if ('const' in schema) return [schema['const']];
  return Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : [];
}

function joinDescriptions(a: Schema, b: Schema): Schema {
  const texts = [
    ...new Set(
      [a['description'], b['description']].flatMap((text) => (typeof text === 'string' ? text.split('; ') : [])),
    ),
  ];
  return texts.length > 0 ? { description: texts.join('; ') } : {};
}

const BOUNDS: readonly [string, (a: number, b: number) => number][] = [
  ['minimum', Math.min],
  ['maximum', Math.max],
  ['minLength', Math.min],
  ['maxLength', Math.max],
];

/** Branches of one scalar type keep that type and its widest bounds; anything else is left open. */
function scalars(branches: readonly Schema[]): Schema {
  const [first] = branches;
  const type = first?.['type'];
  if (
    typeof type !== 'string' ||
    type === 'object' ||
    type === 'array' ||
    !branches.every((branch) => branch['type'] === type)
  )
    return {};
  const bounds = BOUNDS.flatMap(([key, pick]) => {
    const values = branches.map((branch) => branch[key]);
    return values.every((value) => typeof value === 'number') ? [[key, values.reduce((a, b) => pick(a, b))]] : [];
  });
  return { type, ...(Object.fromEntries(bounds) as Schema) };
}
