import { type Graph, graphOf, type Selector, valuesIn, type Vertex } from './json-schema-graph.ts';
import { patternSize } from './pattern-size.ts';

/**
 * Bounds of one JSON Schema; what is within all of them compiles in a tenth of a second. `expanded` counts its values with every
 * `$ref` replaced by what it names, `patterns` the instructions of all its patterns. `referenced` counts the values of what is named,
 * once for each pointer to it or into it; the patterns there are within `patterns` too.
 */
export const SCHEMA_LIMITS = {
  bytes: 64 * 1024,
  nodes: 2000,
  refs: 200,
  depth: 64,
  expanded: 10_000,
  referenced: 4000,
  patterns: 5000,
} as const;

export type MeasuredSchema = { ok: true; expanded: number } | { ok: false; msg: string };

/**
 * Refuses a schema whose compilation, or whose validation of a small value, could take long. It counts and never compiles.
 * What passes evaluates each part of a value at most `expanded` times.
 */
export function measureSchema(schema: unknown): MeasuredSchema {
  const problem = sizeProblem(schema);
  if (problem !== null) return { ok: false, msg: problem };
  if (typeof schema !== 'object' || schema === null) return { ok: true, expanded: 1 };
  const graph = graphOf(schema);
  if (!graph.ok) return graph;
  const groups = strongGroups(graph);
  const expanded = expandedSize(graph, groups);
  if (expanded > SCHEMA_LIMITS.expanded)
    return { ok: false, msg: `its references multiply to more than ${SCHEMA_LIMITS.expanded} values` };
  const msg = loopProblem(graph, groups) ?? referencedProblem(graph);
  return msg === null ? { ok: true, expanded } : { ok: false, msg };
}

/** They change what a reference means, wherever they stand: ajv finds them under unknown keywords and in data too. */
const NAMES = ['$id', '$anchor', '$dynamicAnchor'];
const hasName = (schema: object): boolean => NAMES.some((name) => typeof Reflect.get(schema, name) === 'string');

function sizeProblem(schema: unknown): string | null {
  const waiting: { value: unknown; depth: number }[] = [{ value: schema, depth: 0 }];
  const objects: object[] = [];
  for (let seen = 0; seen < waiting.length; seen++) {
    const { value, depth } = waiting[seen] as (typeof waiting)[number];
    if (depth > SCHEMA_LIMITS.depth) return `is nested deeper than ${SCHEMA_LIMITS.depth} levels`;
    if (typeof value !== 'object' || value === null) continue;
    const items: unknown[] = Object.values(value);
    if (waiting.length + items.length > SCHEMA_LIMITS.nodes) return `has more than ${SCHEMA_LIMITS.nodes} values`;
    objects.push(value);
    waiting.push(...items.map((item) => ({ value: item, depth: depth + 1 })));
  }
  if (objects.slice(1).some(hasName)) return `may have ${NAMES.join(', ')} at its root only`;
  if (objects.filter(isReference).length > SCHEMA_LIMITS.refs)
    return `has more than ${SCHEMA_LIMITS.refs} references ($ref)`;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > SCHEMA_LIMITS.bytes) return `is larger than ${SCHEMA_LIMITS.bytes / 1024} KiB`;
  return sizeOfAll(objects.flatMap(patternsIn)) > SCHEMA_LIMITS.patterns
    ? `its patterns have more than ${SCHEMA_LIMITS.patterns} instructions, repetitions written out`
    : null;
}

/** Instructions of patterns, about. */
export const sizeOfAll = (patterns: readonly string[]): number =>
  patterns.reduce((sum, pattern) => sum + patternSize(pattern), 0);

/** Each pointer is compiled with all that stands in what it names, and so is the one that stands there in its turn. */
function referencedProblem({ referenced }: Graph): string | null {
  let values = 0;
  let patterns = 0;
  for (const first of referenced.values())
    for (let at: typeof first | undefined = first; at; at = referenced.get(String(at['$ref']))) {
      values += valuesIn(at);
      if (values > SCHEMA_LIMITS.referenced)
        return `its references name more than ${SCHEMA_LIMITS.referenced} values, counted for each of them`;
      patterns += sizeOfAll(patternsOfSchema(at));
      if (patterns > SCHEMA_LIMITS.patterns)
        return `its references name patterns of more than ${SCHEMA_LIMITS.patterns} instructions, counted for each of them`;
    }
  return null;
}

/** All patterns of a schema, and of what may be none. */
export function patternsOfSchema(schema: unknown): string[] {
  const waiting = [schema];
  const patterns: string[] = [];
  for (const value of waiting) {
    if (typeof value !== 'object' || value === null) continue;
    for (const pattern of patternsIn(value)) patterns.push(pattern);
    for (const item of Object.values(value)) waiting.push(item);
  }
  return patterns;
}

/** The patterns that stand in a subschema itself. */
function patternsIn(schema: { pattern?: unknown; patternProperties?: unknown }): string[] {
  const { pattern, patternProperties } = schema;
  const keys =
    typeof patternProperties === 'object' && patternProperties !== null ? Object.keys(patternProperties) : [];
  return [...keys, ...(typeof pattern === 'string' ? [pattern] : [])];
}

const isReference = (schema: object): boolean => '$ref' in schema && typeof schema.$ref === 'string';

type Groups = Map<Vertex, Group>;
interface Group {
  members: Vertex[];
  cyclic: boolean;
}

const targets = ({ inPlace, parts }: Vertex): Vertex[] => [...inPlace, ...parts.map(({ to }) => to)];

/** Vertices that reach each other, by Tarjan; a group comes after every group that it leads to. */
function strongGroups({ vertices }: Graph): Groups {
  const groups: Groups = new Map();
  const low = new Map<Vertex, number>();
  const path: Vertex[] = [];
  const visit = (vertex: Vertex): number => {
    const index = low.size;
    low.set(vertex, index);
    const start = path.push(vertex) - 1;
    let lowest = index;
    for (const next of targets(vertex)) if (!groups.has(next)) lowest = Math.min(lowest, low.get(next) ?? visit(next));
    low.set(vertex, lowest);
    if (lowest !== index) return lowest;
    const members = path.splice(start);
    const group = { members, cyclic: members.length > 1 || targets(vertex).includes(vertex) };
    for (const member of members) groups.set(member, group);
    return lowest;
  };
  for (const vertex of vertices) if (!low.has(vertex)) visit(vertex);
  return groups;
}

/** The size with references written out; a cycle counts once, as each turn of it reads another part of the value. */
function expandedSize({ root }: Graph, groups: Groups): number {
  const known = new Map<Group, number>();
  const sizeOf = (group: Group): number => {
    const found = known.get(group);
    if (found !== undefined) return found;
    let size = 0;
    for (const member of group.members) {
      size += member.weight;
      for (const next of targets(member)) if (groupIn(groups, next) !== group) size += sizeOf(groupIn(groups, next));
    }
    known.set(group, Math.min(size, Number.MAX_SAFE_INTEGER));
    return size;
  };
  return sizeOf(groupIn(groups, root));
}

const groupIn = (groups: Groups, vertex: Vertex): Group => groups.get(vertex) as Group;

/** A cycle must read a part of the value on each turn, and no part of it by two ways: two ways double with every level. */
function loopProblem({ vertices }: Graph, groups: Groups): string | null {
  const recursive = recursiveVertices(groups);
  const open = new Set<Vertex>();
  const known = new Map<Vertex, Map<Selector, number>>();
  let endless = false;
  const waysFrom = (vertex: Vertex): Map<Selector, number> => {
    const found = known.get(vertex);
    if (found) return found;
    const ways = new Map<Selector, number>();
    if (open.has(vertex)) {
      endless = true;
      return ways;
    }
    open.add(vertex);
    const add = (selector: Selector, count: number) =>
      ways.set(selector, Math.min(2, (ways.get(selector) ?? 0) + count));
    for (const { selector, to } of vertex.parts) if (recursive.has(to)) add(selector, 1);
    for (const next of vertex.inPlace) for (const [selector, count] of waysFrom(next)) add(selector, count);
    open.delete(vertex);
    known.set(vertex, ways);
    return ways;
  };
  for (const vertex of vertices) {
    const doubled = isDoubled(waysFrom(vertex)) && groupIn(groups, vertex).cyclic;
    if (endless) return 'refers to itself without reading a part of the value';
    if (doubled) return 'refers to itself in more than one way for the same part of a value, which multiplies';
  }
  return null;
}

/** Those from which a cycle is reached. Groups come in order, so that what a group leads to is known before it. */
function recursiveVertices(groups: Groups): Set<Vertex> {
  const recursive = new Set<Vertex>();
  for (const { members, cyclic } of new Set(groups.values()))
    if (cyclic || members.some((member) => targets(member).some((next) => recursive.has(next))))
      for (const member of members) recursive.add(member);
  return recursive;
}

/** `.*` and `[*]` stand for any key and any item, so they add to each named one. */
function isDoubled(ways: ReadonlyMap<Selector, number>): boolean {
  return [...ways].some(([selector, count]) => {
    const any: Selector = selector.startsWith('.') ? '.*' : '[*]';
    return count + (selector === any ? 0 : (ways.get(any) ?? 0)) > 1;
  });
}
