import type { ASTNode } from '@marcbachmann/cel-js';
import { arithmetic, compare, equal, spentKeys } from './expression-operators.ts';
import { type Budget, Duration, Stop, typeName } from './expression-fault.ts';
import { callFunction, callMethod, isFunction, isMethod } from './expression-functions.ts';
import { ownValue, stepValue } from './lookup.ts';
import { type PatternRoom, roomProblem } from './pattern-room.ts';
import { compileRegex } from './regex.ts';

/** Variables of one scope; a macro's variable hides the one of the same name outside. */
interface Scope extends Budget {
  root: Readonly<Record<string, unknown>>;
  name?: string;
  value?: unknown;
  outer?: Scope;
}

export const MACROS = new Map([
  ['all', 2],
  ['exists', 2],
  ['exists_one', 2],
  ['filter', 2],
  ['map', 2],
]);

/** The message for the first unsupported node, or null. Literal patterns are compiled here, as far as there is room for them. */
export function checkNode(node: ASTNode, room: PatternRoom): string | null {
  const own = checkOne(node, room);
  if (own !== null || isHas(node)) return own;
  for (const child of children(node)) {
    const problem = checkNode(child, room);
    if (problem !== null) return problem;
  }
  return null;
}

function isHas(node: ASTNode): boolean {
  return node.op === 'call' && node.args[0] === 'has';
}

function checkOne(node: ASTNode, room: PatternRoom): string | null {
  switch (node.op) {
    case 'value':
      return typeof node.args === 'object' && node.args !== null
        ? 'bytes and unsigned integers are not supported'
        : null;
    case '.?':
    case '[?]':
      return 'optional access is not supported';
    case 'call':
      return isHas(node) || isFunction(node.args[0], node.args[1].length)
        ? null
        : `unknown function ${node.args[0]}() with ${node.args[1].length} arguments`;
    case 'rcall':
      return checkMethod(node.args[0], node.args[2], room);
    default:
      return null;
  }
}

function checkMethod(name: string, args: readonly ASTNode[], room: PatternRoom): string | null {
  if (MACROS.has(name)) return args[0]?.op === 'id' ? null : `${name}() needs a variable name first`;
  if (!isMethod(name, args.length)) return `unknown function .${name}() with ${args.length} arguments`;
  const [pattern] = args;
  if (name !== 'matches' || pattern?.op !== 'value' || typeof pattern.args !== 'string') return null;
  return roomProblem(room, [pattern.args]) ?? patternProblem(pattern.args);
}

function patternProblem(pattern: string): string | null {
  const compiled = compileRegex(pattern);
  return compiled.ok ? null : compiled.msg;
}

function children(node: ASTNode): ASTNode[] {
  const found: ASTNode[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null && 'op' in value) found.push(value as ASTNode);
  };
  visit(node.args);
  return found;
}

/** Evaluates a checked tree; throws `Stop`. Integers of the result become numbers. */
export function evaluateNode(node: ASTNode, root: Readonly<Record<string, unknown>>, maxSteps: number): unknown {
  let left = maxSteps;
  const spend = (steps: number): void => {
    left -= steps;
    if (left < 0) throw new Stop('limit', `the expression needs more than ${maxSteps} steps`);
  };
  return plain(run(node, { root, spend }), { spend });
}

/** Steps for each value of a result and for each character, also of a name. */
const VALUE_STEPS = 1 / 4;
const CHAR_STEPS = 1 / 256;

/** A result may name one value many times, and each of them is copied. */
function plain(value: unknown, budget: Budget): unknown {
  budget.spend(VALUE_STEPS + (typeof value === 'string' ? value.length * CHAR_STEPS : 0));
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Duration) return `${value.ms / 1000}s`;
  if (Array.isArray(value)) return value.map((item) => plain(item, budget));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      budget.spend(key.length * CHAR_STEPS);
      return [key, plain(item, budget)];
    }),
  );
}

function run(node: ASTNode, scope: Scope): unknown {
  scope.spend(1);
  switch (node.op) {
    case 'value':
      return node.args;
    case 'id':
      return variable(node.args, scope);
    case '.':
      return access(run(node.args[0], scope), node.args[1], scope);
    case '[]':
      return access(run(node.args[0], scope), run(node.args[1], scope), scope);
    case 'list':
      return node.args.map((item) => run(item, scope));
    case 'map':
      return Object.fromEntries(node.args.map(([key, value]) => [nameOf(run(key, scope), scope), run(value, scope)]));
    case 'call':
      return node.args[0] === 'has'
        ? has(node.args[1][0], scope)
        : callFunction(
            node.args[0],
            node.args[1].map((item) => run(item, scope)),
            scope,
          );
    case 'rcall':
      return method(node.args[0], node.args[1], node.args[2], scope);
    default:
      return operator(node, scope);
  }
}

function operator(node: ASTNode, scope: Scope): unknown {
  switch (node.op) {
    case '?:':
      return bool(run(node.args[0], scope)) ? run(node.args[1], scope) : run(node.args[2], scope);
    case '&&':
      return logical(node.args, false, scope);
    case '||':
      return logical(node.args, true, scope);
    case '!_':
      return !bool(run(node.args, scope));
    case '-_':
      return arithmetic('-', 0n, run(node.args, scope), scope);
    default:
      return binary(node.op, node.args as [ASTNode, ASTNode], scope);
  }
}

function binary(op: string, [left, right]: [ASTNode, ASTNode], scope: Scope): unknown {
  const a = run(left, scope);
  const b = run(right, scope);
  switch (op) {
    case '==':
      return equal(a, b, scope);
    case '!=':
      return !equal(a, b, scope);
    case 'in':
      return contains(b, a, scope);
    case '<':
      return compare(op, a, b) < 0;
    case '<=':
      return compare(op, a, b) <= 0;
    case '>':
      return compare(op, a, b) > 0;
    case '>=':
      return compare(op, a, b) >= 0;
    default:
      return arithmetic(op, a, b, scope);
  }
}

/** CEL's and/or: a side that decides wins over an error of the other side. */
function logical([left, right]: [ASTNode, ASTNode], deciding: boolean, scope: Scope): boolean {
  const first = attempt(left, scope);
  if (first === deciding) return deciding;
  const second = attempt(right, scope);
  if (second === deciding) return deciding;
  if (first instanceof Stop) throw first;
  if (second instanceof Stop) throw second;
  return !deciding;
}

function attempt(node: ASTNode, scope: Scope): boolean | Stop {
  try {
    return bool(run(node, scope));
  } catch (error) {
    if (error instanceof Stop && error.reason !== 'limit') return error;
    throw error;
  }
}

function bool(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new Stop('type', `needs true or false, not ${typeName(value)}`);
  return value;
}

function variable(name: string, scope: Scope): unknown {
  for (let at: Scope | undefined = scope; at; at = at.outer) if (at.name === name) return at.value;
  const value = ownValue(scope.root, name);
  if (value === undefined) throw new Stop('missing', `${name} is not there`);
  return value;
}

function access(holder: unknown, key: unknown, scope: Scope): unknown {
  if (holder === null) throw new Stop('missing', `${keyText(key)} of null`);
  if (typeof holder !== 'object' || holder instanceof Date || holder instanceof Duration)
    throw new Stop('type', `${typeName(holder)} has no keys`);
  if (Array.isArray(holder) && typeof key === 'string') throw new Stop('type', 'a list has no keys');
  const name = keyText(key);
  const value = holder === scope.root['steps'] ? stepValue(holder, name) : ownValue(holder, name);
  if (value === undefined) throw new Stop('missing', `${name} is not there`);
  return value;
}

/** A name of a map that is made: all of it is read. */
function nameOf(key: unknown, budget: Budget): string {
  const name = keyText(key);
  budget.spend(name.length * CHAR_STEPS);
  return name;
}

function keyText(key: unknown): string {
  if (typeof key === 'string' || typeof key === 'bigint' || typeof key === 'number' || typeof key === 'boolean')
    return String(key);
  throw new Stop('type', `${typeName(key)} is no key`);
}

/** `has(a.b.c)`: false as soon as one of the keys is missing. */
function has(node: ASTNode | undefined, scope: Scope): boolean {
  try {
    if (node) run(node, scope);
    return true;
  } catch (error) {
    if (error instanceof Stop && error.reason === 'missing') return false;
    throw error;
  }
}

function contains(holder: unknown, item: unknown, scope: Scope): boolean {
  if (Array.isArray(holder)) return holder.some((candidate) => equal(candidate, item, scope));
  if (typeof holder === 'object' && holder !== null) return ownValue(holder, keyText(item)) !== undefined;
  throw new Stop('type', `${typeName(holder)} is neither a list nor a map`);
}

function method(name: string, receiver: ASTNode, args: ASTNode[], scope: Scope): unknown {
  const target = run(receiver, scope);
  if (MACROS.has(name)) return macro(name, target, args, scope);
  return callMethod(
    name,
    target,
    args.map((item) => run(item, scope)),
    scope,
  );
}

/** A macro over a list, or over the keys of a map. */
function macro(name: string, target: unknown, args: ASTNode[], outer: Scope): unknown {
  const items = Array.isArray(target) ? (target as unknown[]) : keysOf(target, outer);
  const variableName = args[0]?.op === 'id' ? args[0].args : '';
  const body = (index: number) => (item: unknown) => {
    const node = args[index];
    return node && run(node, { root: outer.root, spend: outer.spend, name: variableName, value: item, outer });
  };
  const test = (item: unknown): boolean => bool(body(1)(item));
  switch (name) {
    case 'all':
      return items.every(test);
    case 'exists':
      return items.some(test);
    case 'exists_one':
      return items.filter(test).length === 1;
    case 'filter':
      return items.filter(test);
    default:
      return args.length === 3 ? items.filter(test).map(body(2)) : items.map(body(1));
  }
}

function keysOf(target: unknown, budget: Budget): string[] {
  if (typeof target !== 'object' || target === null || target instanceof Date || target instanceof Duration)
    throw new Stop('type', `${typeName(target)} is neither a list nor a map`);
  return spentKeys(target, budget);
}
