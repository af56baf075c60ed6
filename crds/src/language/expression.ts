import { type ASTNode, Environment, ParseError } from '@marcbachmann/cel-js';
import { checkNode, evaluateNode } from './expression-eval.ts';
import { type Fault, Stop } from './expression-fault.ts';
import { pathsOfTree } from './expression-paths.ts';
import { patternRoom, type PatternRoom } from './pattern-room.ts';
import type { WrittenPath } from './written-path.ts';

export interface Expression {
  source: string;
  /** `missing`: a key was not there, which makes the whole expression null; `type`: it cannot be computed; `limit`: too much work. */
  evaluate: (context: Readonly<Record<string, unknown>>, maxSteps?: number) => Evaluated;
}
export type Evaluated = { ok: true; value: unknown } | { ok: false; reason: Fault; msg: string };
export type CompiledExpression = { ok: true; expression: Expression } | { ok: false; msg: string };

/** Work one evaluation may do; long texts and lists count for their length. */
export const MAX_EXPRESSION_STEPS = 100_000;

const parser = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 2000, maxDepth: 100, maxListElements: 500, maxMapEntries: 500 },
});

/**
 * Compiles a CEL expression. The library parses and checks types; evaluation is ours, because it must count its
 * steps, read own properties only and match with RE2. Numbers of the context are doubles and mix with integer literals.
 * Its patterns are within `room`. Never throws; what evaluates is plain JSON (integers as numbers).
 */
export function compileExpression(source: string, room: PatternRoom = patternRoom()): CompiledExpression {
  try {
    const parsed = parser.parse(source);
    const unsupported = checkNode(parsed.ast, room);
    if (unsupported !== null) return { ok: false, msg: unsupported };
    const checked = parser.check(source);
    if (!checked.valid) return { ok: false, msg: firstLine(checked.error) };
    return { ok: true, expression: { source, evaluate: (context, maxSteps) => run(parsed.ast, context, maxSteps) } };
  } catch (error) {
    return { ok: false, msg: firstLine(error) };
  }
}

/** The paths that an expression reads from its context; none of one that is not sound. */
export function expressionPaths(source: string): WrittenPath[] {
  try {
    return pathsOfTree(parser.parse(source).ast);
  } catch {
    return [];
  }
}

function run(ast: ASTNode, context: Readonly<Record<string, unknown>>, maxSteps = MAX_EXPRESSION_STEPS): Evaluated {
  try {
    return { ok: true, value: evaluateNode(ast, context, maxSteps) };
  } catch (error) {
    if (error instanceof Stop) return { ok: false, reason: error.reason, msg: error.message };
    return { ok: false, reason: 'limit', msg: 'the expression cannot be evaluated' };
  }
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : 'cannot be parsed';
  const at = error instanceof ParseError && error.range ? ` at column ${error.range.start + 1}` : '';
  return `invalid expression: ${message}${at}`;
}
