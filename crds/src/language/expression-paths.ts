import type { ASTNode } from '@marcbachmann/cel-js';
import { MACROS } from './expression-eval.ts';
import type { WrittenPath } from './written-path.ts';

/** The paths that an expression reads; a variable of a macro is not one. */
export function pathsOfTree(node: ASTNode): WrittenPath[] {
  return inNode(node, { variables: [], guarded: false });
}

interface Sight {
  variables: readonly string[];
  guarded: boolean;
}

function inNode(node: ASTNode, sight: Sight): WrittenPath[] {
  const parts = chainOf(node);
  if (parts) return sight.variables.includes(parts[0] ?? '') ? [] : [{ parts, guarded: sight.guarded }];
  if (node.op === 'call' && node.args[0] === 'has')
    return node.args[1].flatMap((argument) => inNode(argument, { ...sight, guarded: true }));
  if (node.op === 'rcall' && MACROS.has(node.args[0])) return inMacro(node.args[1], node.args[2], sight);
  return nodesIn(node.args).flatMap((child) => inNode(child, sight));
}

function inMacro(receiver: ASTNode, [variable, ...rest]: readonly ASTNode[], sight: Sight): WrittenPath[] {
  const name = variable?.op === 'id' ? [variable.args] : [];
  const inside = { ...sight, variables: [...sight.variables, ...name] };
  return [...inNode(receiver, sight), ...rest.flatMap((child) => inNode(child, inside))];
}

/** `a.b["c"]` as its keys; null for any other node. */
function chainOf(node: ASTNode): string[] | null {
  if (node.op === 'id') return [node.args];
  if (node.op !== '.' && node.op !== '[]') return null;
  const [holder, key] = node.args;
  const before = chainOf(holder);
  const word = keyOf(key);
  return before && word !== null ? [...before, word] : null;
}

function keyOf(key: string | ASTNode): string | null {
  if (typeof key === 'string') return key;
  return key.op === 'value' && typeof key.args === 'string' ? key.args : null;
}

function nodesIn(value: unknown): ASTNode[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  return typeof value === 'object' && value !== null && 'op' in value ? [value as ASTNode] : [];
}
