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

function inExpression(node: hbs.AST.Expression, { frames, names }: Sight, found: string[][]): void {
  if (node.type !== 'PathExpression') return;
  const { parts, data, depth, original } = node as hbs.AST.PathExpression;
  const written: unknown[] = data && parts[0] === 'root' ? parts.slice(1) : parts;
  if (!written.every((part) => typeof part === 'string') || written.length === 0) return;
  const [head = ''] = written;
  const isRoot = data ? parts[0] === 'root' : frames.at(-1 - depth) === true;
  const isLoopName = !data && depth === 0 && !original.startsWith('this') && names.includes(head);
  if (isRoot && !isLoopName) found.push(written);
}
