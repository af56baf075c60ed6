import { ownValue } from './lookup.ts';
import { type Frame, follow, isEmpty, type Output, type Piece } from './template-render.ts';

type Compiled = { ok: true; render: Piece } | { ok: false; msg: string; loc?: { line: number; col: number } };
type Read = (frame: Frame, output: Output) => unknown;

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);
const LOOP_WORDS = new Set(['index', 'key', 'first', 'last', 'root']);
const KEYWORDS = new Set(['if', 'unless', 'each', 'with', 'lookup', 'log', 'helperMissing', 'blockHelperMissing']);

/** A template feature that the sandbox does not allow. */
class Refused extends Error {
  readonly node: hbs.AST.Node;

  constructor(msg: string, node: hbs.AST.Node) {
    super(msg);
    this.node = node;
  }
}

/** Turns a parsed template into functions; refuses every kind of node that is not on the list below. */
export function compileProgram(program: hbs.AST.Program): Compiled {
  try {
    return { ok: true, render: body(program) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return {
      ok: false,
      msg: error.message,
      loc: { line: error.node.loc.start.line, col: error.node.loc.start.column + 1 },
    };
  }
}

function body(program: hbs.AST.Program | undefined): Piece {
  const pieces = (program?.body ?? []).map(statement).filter((piece) => piece !== null);
  const [only] = pieces;
  if (only && pieces.length === 1) return only;
  return (frame, output) => {
    for (const piece of pieces) piece(frame, output);
  };
}

function statement(node: hbs.AST.Statement): Piece | null {
  switch (node.type) {
    case 'ContentStatement':
      return content(node as hbs.AST.ContentStatement);
    case 'CommentStatement':
      return null;
    case 'MustacheStatement':
      return mustache(node as hbs.AST.MustacheStatement);
    case 'BlockStatement':
      return block(node as hbs.AST.BlockStatement);
    default:
      throw new Refused(`${NAMES[node.type] ?? node.type} is not available in templates`, node);
  }
}

const NAMES: Record<string, string> = {
  PartialStatement: 'a partial {{> …}}',
  PartialBlockStatement: 'a partial {{#> …}}',
  Decorator: 'a decorator {{* …}}',
  DecoratorBlock: 'a decorator {{#* …}}',
  SubExpression: 'a nested call (…)',
};

function content(node: hbs.AST.ContentStatement): Piece | null {
  const text = node.value;
  return text === '' ? null : (_frame, output) => output.literal(text);
}

function mustache(node: hbs.AST.MustacheStatement): Piece {
  if (node.params.length > 0 || (node.hash?.pairs.length ?? 0) > 0)
    throw new Refused(`unknown helper "${nameOf(node.path)}"`, node);
  const { path } = node;
  if (isKeyword(path)) throw new Refused(`"${nameOf(path)}" cannot be used as a value`, node);
  const original = nameOf(path);
  const read = expression(path);
  const absent = absence(path);
  return (frame, output) => {
    const value = read(frame, output);
    if (value === undefined) output.missing.add(absent(frame, output));
    output.value(value, original);
  };
}

/** Block parameters: an item and its key. */
const MOST_NAMES = 2;
/** Of a path that is looked at again where it has no value. */
const MOST_PARTS = 8;

/** How a path without a value is told of: it may be of an output that its group left out. What that takes is built when it is asked. */
function absence(node: hbs.AST.Expression): (frame: Frame, output: Output) => string {
  const name = nameOf(node);
  const leftOut = `${name} (left out)`;
  const { type, data, depth, original, parts = [] } = node as Partial<hbs.AST.PathExpression>;
  if (parts.length < 2 || parts.length > MOST_PARTS) return () => name;
  return (frame, output) => {
    const [head = '', ...rest] = parts;
    let holder = expression({ type, data, depth, original, parts: [head] } as unknown as typeof node)(frame, output);
    for (const part of rest) {
      if (ownValue(holder, 'left_out') === true) return leftOut;
      holder = follow(holder, [part], output.root);
    }
    return name;
  };
}

function isKeyword(path: hbs.AST.Expression): boolean {
  return path.type === 'PathExpression' && KEYWORDS.has((path as hbs.AST.PathExpression).original);
}

function block(node: hbs.AST.BlockStatement): Piece {
  const name = node.path.original;
  const [argument] = node.params;
  const make = BLOCKS.get(name);
  if (!make) throw new Refused(`unknown block helper "${name}"; there are if, unless, each and with`, node);
  if (!argument || node.params.length > 1 || (node.hash?.pairs.length ?? 0) > 0)
    throw new Refused(`{{#${name}}} takes one value`, node);
  const names = node.program.blockParams ?? [];
  if (names.length > MOST_NAMES) throw new Refused(`{{#${name}}} names at most two values with as |…|`, node);
  return make({
    read: expression(argument),
    path: nameOf(argument),
    absent: absence(argument),
    names,
    inside: body(node.program),
    otherwise: node.inverse ? body(node.inverse) : null,
  });
}

interface BlockParts {
  read: Read;
  path: string;
  absent: ReturnType<typeof absence>;
  names: readonly string[];
  inside: Piece;
  otherwise: Piece | null;
}

const BLOCKS = new Map<string, (parts: BlockParts) => Piece>([
  ['if', (parts) => conditional(parts, false)],
  ['unless', (parts) => conditional(parts, true)],
  ['each', each],
  ['with', scoped],
]);

function conditional({ read, inside, otherwise }: BlockParts, whenEmpty: boolean): Piece {
  return (frame, output) => {
    output.visit();
    const chosen = isEmpty(read(frame, output)) === whenEmpty ? inside : otherwise;
    chosen?.(frame, output);
  };
}

function scoped(parts: BlockParts): Piece {
  const [name] = parts.names;
  return (frame, output) => {
    output.visit();
    const value = parts.read(frame, output);
    if (isEmpty(value)) return nothing(parts, value, frame, output);
    parts.inside(
      { value, parent: frame, loop: frame.loop, names: name === undefined ? null : { [name]: value } },
      output,
    );
  };
}

function each(parts: BlockParts): Piece {
  return (frame, output) => {
    output.visit();
    const value = parts.read(frame, output);
    const keys = keysOf(value);
    if (keys.length === 0) return nothing(parts, value, frame, output);
    keys.forEach((key, index) => {
      output.iterate(parts.path);
      const item = follow(value, [String(key)], output.root);
      const loop = { index, key, first: index === 0, last: index === keys.length - 1 };
      parts.inside({ value: item, parent: frame, loop, names: loopNames(parts.names, item, key) }, output);
    });
  };
}

function loopNames(
  [item, key]: readonly string[],
  value: unknown,
  at: string | number,
): Record<string, unknown> | null {
  if (item === undefined) return null;
  return key === undefined ? { [item]: value } : { [item]: value, [key]: at };
}

function nothing(parts: BlockParts, value: unknown, frame: Frame, output: Output): void {
  if (parts.otherwise) parts.otherwise(frame, output);
  else if (value === undefined) output.missing.add(parts.absent(frame, output));
}

function keysOf(value: unknown): (string | number)[] {
  if (Array.isArray(value)) return [...value.keys()];
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}

function expression(node: hbs.AST.Expression): Read {
  switch (node.type) {
    case 'PathExpression':
      return counted(node as hbs.AST.PathExpression);
    case 'StringLiteral':
    case 'NumberLiteral':
    case 'BooleanLiteral': {
      const { value } = node as hbs.AST.StringLiteral;
      return () => value;
    }
    case 'NullLiteral':
    case 'UndefinedLiteral':
      return () => null;
    default:
      throw new Refused(`${NAMES[node.type] ?? node.type} is not available in templates`, node);
  }
}

/** Parts of a path that weigh as much as one visit. */
const PARTS_PER_VISIT = 8;

function counted(node: hbs.AST.PathExpression): Read {
  const read = path(node);
  const weight = Math.floor(node.parts.length / PARTS_PER_VISIT);
  if (weight === 0) return read;
  return (frame, output) => {
    output.visit(weight);
    return read(frame, output);
  };
}

function path(node: hbs.AST.PathExpression): Read {
  const parts = node.parts as unknown[];
  if (!parts.every((part) => typeof part === 'string'))
    throw new Refused('a nested call (…) is not available in templates', node);
  const bad = parts.find((part) => FORBIDDEN.has(part));
  if (bad !== undefined) throw new Refused(`"${bad}" cannot be read`, node);
  if (node.data) return data(node, parts);
  const { depth } = node;
  const [head = '', ...rest] = parts;
  const plain: Read = (frame, output) => follow(above(frame, depth)?.value, parts, output.root);
  if (depth > 0 || /^(this\b|\.\/)/.test(node.original) || parts.length === 0) return plain;
  return (frame, output) => {
    for (let at: Frame | null = frame; at; at = at.parent)
      if (at.names && Object.hasOwn(at.names, head)) return follow(at.names[head], rest, output.root);
    return plain(frame, output);
  };
}

function data(node: hbs.AST.PathExpression, parts: readonly string[]): Read {
  const [word = '', ...rest] = parts;
  if (!LOOP_WORDS.has(word)) throw new Refused(`unknown variable "@${word}"`, node);
  if (word === 'root') return (_frame, output) => follow(output.root, rest, output.root);
  const { depth } = node;
  return (frame) => {
    const loop = aboveLoop(frame, depth)?.loop;
    return rest.length === 0 && loop ? loop[word as 'index' | 'key' | 'first' | 'last'] : undefined;
  };
}

function above(frame: Frame, depth: number): Frame | null {
  let at: Frame | null = frame;
  for (let left = depth; left > 0 && at; left--) at = at.parent;
  return at;
}

/** `@../index` counts loops, not every block. */
function aboveLoop(frame: Frame, depth: number): Frame | null {
  let at: Frame | null = frame;
  for (let left = depth; left > 0 && at; left--) {
    const inner: Frame['loop'] = at.loop;
    while (at && at.loop === inner) at = at.parent;
  }
  return at;
}

function nameOf(node: hbs.AST.Node): string {
  const original: unknown = (node as hbs.AST.PathExpression).original;
  return typeof original === 'string' ? original : ((node as hbs.AST.StringLiteral).value ?? node.type);
}
