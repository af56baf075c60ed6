import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { Loc } from '../problem.ts';
import { checkSize, MAX_YAML_BYTES, MAX_YAML_DEPTH, MAX_YAML_NODES } from './yaml-size.ts';

const MAX_ALIASES = 100;
const MAX_PROBLEMS = 20;

export interface Position {
  line: number;
  col: number;
}
export interface YamlProblem extends Position {
  loc: Loc;
  msg: string;
  reason: 'syntax' | 'too_large';
}
export type Locate = (loc: Loc) => Position | null;
export type ParsedYaml = { ok: true; value: unknown; locate: Locate } | { ok: false; problems: YamlProblem[] };

const OPTIONS = {
  version: '1.2',
  schema: 'core',
  uniqueKeys: false,
  strict: true,
  logLevel: 'error',
  prettyErrors: false,
} as const;

/**
 * One YAML document as a plain value. Size, nodes and depth are counted on the lexer's output before anything is composed,
 * and again with aliases followed. Duplicate keys, unknown tags, non-JSON numbers and a second document are errors. Never throws.
 */
export function parseYaml(text: string): ParsedYaml {
  const refused = checkSize(text);
  if (refused) return { ok: false, problems: [{ ...refused, col: 1, loc: [] }] };
  const lines = new LineCounter();
  return readDocument(parseDocument(text, { ...OPTIONS, lineCounter: lines }), lines);
}

function readDocument(document: Document.Parsed, lines: LineCounter): ParsedYaml {
  const position = (offset: number): Position => lines.linePos(offset);
  const issues = [...document.errors, ...document.warnings].slice(0, MAX_PROBLEMS);
  if (issues.length > 0)
    return {
      ok: false,
      problems: issues.map(({ pos, code, message }) => {
        const msg = code === 'MULTIPLE_DOCS' ? 'a second document begins here; one is all that a file holds' : message;
        return { ...position(pos[0]), loc: [], msg, reason: 'syntax' };
      }),
    };
  const reader = new ValueReader(document, position);
  const value = reader.read(document.contents, []);
  if (reader.problems.length > 0) return { ok: false, problems: reader.problems };
  return { ok: true, value, locate: (loc) => locate(document, position, loc) };
}

/** Turns composed nodes into plain values and collects problems that the YAML library accepts. */
class ValueReader {
  readonly problems: YamlProblem[] = [];
  private readonly document: Document.Parsed;
  private readonly position: (offset: number) => Position;
  private nodes = 0;
  private chars = 0;
  private aliases = 0;
  private stopped = false;

  constructor(document: Document.Parsed, position: (offset: number) => Position) {
    this.document = document;
    this.position = position;
  }

  read(node: unknown, loc: Loc): unknown {
    if (this.stopped || this.problems.length >= MAX_PROBLEMS || node === null) return null;
    if (++this.nodes > MAX_YAML_NODES) return this.stop(node, loc, `has more than ${MAX_YAML_NODES} nodes`);
    if (loc.length > MAX_YAML_DEPTH) return this.stop(node, loc, `is nested deeper than ${MAX_YAML_DEPTH} levels`);
    if (isAlias(node)) return this.readAlias(node, loc);
    if (isMap(node)) return this.readMap(node.items, loc);
    if (isSeq(node)) return node.items.map((item, index) => this.read(item, [...loc, index]));
    return isScalar(node) ? this.readText(node.value, node, loc) : null;
  }

  private readAlias(node: Node & { resolve(document: Document): unknown }, loc: Loc): unknown {
    if (++this.aliases > MAX_ALIASES) return this.stop(node, loc, `uses more than ${MAX_ALIASES} aliases`);
    const target = node.resolve(this.document);
    return target === undefined ? this.report(node, loc, 'an alias needs an anchor before it') : this.read(target, loc);
  }

  private readMap(items: { key: unknown; value: unknown }[], loc: Loc): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    for (const { key, value } of items) {
      const name = this.readKey(key, loc);
      if (name === null) continue;
      if (entries.has(name)) this.report(key, [...loc, name], `key "${name}" is given twice`);
      else entries.set(name, this.read(value, [...loc, name]));
    }
    return Object.fromEntries(entries);
  }

  private readKey(key: unknown, loc: Loc): string | null {
    if (!isScalar(key) || key.value === null || typeof key.value === 'object')
      return this.report(key, loc, 'a key must be text');
    this.nodes++;
    const name = String(key.value);
    this.chars += name.length;
    return name === '__proto__' ? this.report(key, loc, 'the key "__proto__" is not allowed') : name;
  }

  /** Only aliases make more text than a file has. */
  private readText(value: unknown, node: unknown, loc: Loc): unknown {
    if (typeof value === 'string') this.chars += value.length;
    if (this.chars > MAX_YAML_BYTES)
      return this.stop(node, loc, `has more than ${MAX_YAML_BYTES / 1024} KiB of text, its aliases written out`);
    return this.readScalar(value, node, loc);
  }

  private readScalar(value: unknown, node: unknown, loc: Loc): unknown {
    if (typeof value === 'number' && !Number.isFinite(value)) return this.report(node, loc, 'a number must be finite');
    if (typeof value === 'object' && value !== null)
      return this.report(node, loc, 'this kind of value is not supported');
    return value;
  }

  private stop(node: unknown, loc: Loc, msg: string): null {
    if (!this.stopped) this.problems.push(this.problem(node, loc, msg, 'too_large'));
    this.stopped = true;
    return null;
  }

  private report(node: unknown, loc: Loc, msg: string): null {
    this.problems.push(this.problem(node, loc, msg, 'syntax'));
    return null;
  }

  private problem(node: unknown, loc: Loc, msg: string, reason: YamlProblem['reason']): YamlProblem {
    return { ...this.position(startOf(node) ?? 0), loc, msg, reason };
  }
}

function startOf(node: unknown): number | null {
  const range = (node as Node | null | undefined)?.range;
  return range ? range[0] : null;
}

/** The position of `loc`, or of the nearest existing parent: the key of a map's entry, the start of a list's item. */
function locate(document: Document.Parsed, position: (offset: number) => Position, loc: Loc): Position | null {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const part of loc) {
    const child = childOf(isAlias(node) ? node.resolve(document) : node, part);
    if (!child) break;
    offset = startOf(child.at) ?? offset;
    node = child.value;
  }
  return offset === null ? null : position(offset);
}

function childOf(parent: unknown, part: string | number): { at: unknown; value: unknown } | null {
  if (isSeq(parent)) {
    const item: unknown = parent.items[Number(part)];
    return item === undefined ? null : { at: item, value: item };
  }
  if (!isMap(parent)) return null;
  const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
  return pair ? { at: pair.key, value: pair.value } : null;
}
