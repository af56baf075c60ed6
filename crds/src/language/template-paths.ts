import type { WrittenPath } from './written-path.ts';

/** What a place of a template sees: whether each open frame is the root of the context, and the names of loops. */
interface Sight {
  frames: boolean[];
  names: readonly string[];
}

/** The paths that a template reads from the root; inside `each` and `with` only `@root` and `../` lead there. */
export function pathsOfProgram(program: hbs.AST.Program): WrittenPath[] {
  const found: string[][] = [];
  inProgram(program, { frames: [true], names: [] }, found);
  return found.map((parts) => ({ parts, guarded: false }));
}

function inProgram(program: hbs.AST.Program | undefined, sight: Sight, found: string[][]): void {
  for (const node of program?.body ?? []) {
    if (node.type === 'MustacheStatement') inMustache(node as hbs.AST.MustacheStatement, sight, found);
    if (node.type === 'BlockStatement') inBlock(node as hbs.AST.BlockStatement, sight, found);
  }
}

/** A tag with arguments calls a helper: its own name is no path. */
function inMustache({ path, params }: hbs.AST.MustacheStatement, sight: Sight, found: string[][]): void {
  for (const node of params.length > 0 ? params : [path]) inExpression(node, sight, found);
}

const NEW_FRAME = new Set(['each', 'with']);

function inBlock(node: hbs.AST.BlockStatement, sight: Sight, found: string[][]): void {
  for (const argument of node.params) inExpression(argument, sight, found);
  const inside = NEW_FRAME.has(node.path.original)
    ? { frames: [...sight.frames, false], names: [...sight.names, ...(node.program.blockParams ?? [])] }
    : sight;
  inProgram(node.program, inside, found);
  inProgram(node.inverse, sight, found);
}

function inExpression(node: hbs.AST.Expression, sight: Sight, found: string[][]): void {
  if (node.type !== 'PathExpression') return;
  const parts = fromRoot(node as hbs.AST.PathExpression, sight);
  if (parts && parts.length > 0 && parts.every((part) => typeof part === 'string')) found.push(parts);
}

/** The keys below the root of the context; null for a path that begins elsewhere. */
function fromRoot(
  { parts, data, depth, original }: hbs.AST.PathExpression,
  { frames, names }: Sight,
): unknown[] | null {
  const [head = ''] = parts;
  if (data) return head === 'root' ? parts.slice(1) : null;
  if (depth === 0 && names.includes(head) && !original.startsWith('this')) return null;
  return frames.at(-1 - depth) === true ? parts : null;
}
