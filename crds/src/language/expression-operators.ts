import { type Budget, Duration, Stop, typeName } from './expression-fault.ts';

const MAX_INT = 9_223_372_036_854_775_807n;
const MIN_INT = -9_223_372_036_854_775_808n;
const MAX_TEXT = 1024 * 1024;
/** Characters or items that cost one step to copy or to read. */
const PER_STEP = 64;

export function spendLength(length: number, budget: Budget): void {
  if (length > MAX_TEXT) throw new Stop('limit', 'a value became too large');
  budget.spend(Math.ceil(length / PER_STEP));
}

/** The keys of a map, each of which is read. */
export function spentKeys(map: object, budget: Budget): string[] {
  const keys = Object.keys(map);
  spendLength(keys.length, budget);
  return keys;
}

/** `+ - * / %` of CEL. Integers stay integers; an integer beside a double becomes a double, as JSON knows one kind of number. */
export function arithmetic(op: string, a: unknown, b: unknown, budget: Budget): unknown {
  if (typeof a === 'bigint' && typeof b === 'bigint') return integers(op, a, b);
  if (isNumber(a) && isNumber(b)) return doubles(op, Number(a), Number(b));
  const result = op === '+' ? joined(a, b, budget) : undefined;
  return result ?? moments(op, a, b);
}

function joined(a: unknown, b: unknown, budget: Budget): string | unknown[] | undefined {
  if (typeof a === 'string' && typeof b === 'string') {
    spendLength(a.length + b.length, budget);
    return a + b;
  }
  if (!Array.isArray(a) || !Array.isArray(b)) return undefined;
  spendLength((a.length + b.length) * PER_STEP, budget);
  return [...(a as unknown[]), ...(b as unknown[])];
}

function integers(op: string, a: bigint, b: bigint): bigint {
  if ((op === '/' || op === '%') && b === 0n) throw new Stop('type', 'division by zero');
  const result = { '+': a + b, '-': a - b, '*': a * b, '/': b === 0n ? 0n : a / b, '%': b === 0n ? 0n : a % b }[op];
  if (result === undefined) throw mismatch(op, a, b);
  if (result > MAX_INT || result < MIN_INT) throw new Stop('type', 'integer overflow');
  return result;
}

function doubles(op: string, a: number, b: number): number {
  const result = { '+': a + b, '-': a - b, '*': a * b, '/': a / b, '%': a % b }[op];
  if (result === undefined) throw mismatch(op, a, b);
  return result;
}

/** Sums and differences of timestamps and durations. */
function moments(op: string, a: unknown, b: unknown): Date | Duration {
  const left = magnitude(a);
  const right = magnitude(b);
  if (left === null || right === null) throw mismatch(op, a, b);
  const result = op === '+' ? left.value + right.value : left.value - right.value;
  switch (`${left.kind} ${op} ${right.kind}`) {
    case 'timestamp + duration':
    case 'duration + timestamp':
    case 'timestamp - duration':
      return moment(result);
    case 'timestamp - timestamp':
    case 'duration + duration':
    case 'duration - duration':
      return new Duration(result);
    default:
      throw mismatch(op, a, b);
  }
}

function moment(ms: number): Date {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) throw new Stop('type', 'the timestamp is out of range');
  return date;
}

/** Negative, zero or positive, as `op` needs it; NaN compares false with everything. */
export function compare(op: '<' | '<=' | '>' | '>=', a: unknown, b: unknown): number {
  if (typeof a === 'bigint' && typeof b === 'bigint') return order(a, b);
  if (typeof a === 'string' && typeof b === 'string') return order(a, b);
  const left = magnitude(a);
  const right = magnitude(b);
  if (left === null || right === null || left.kind !== right.kind) throw mismatch(op, a, b);
  return order(left.value, right.value);
}

/** A key by which values of one kind compare. */
function magnitude(value: unknown): { kind: string; value: number } | null {
  if (isNumber(value)) return { kind: 'number', value: Number(value) };
  if (typeof value === 'boolean') return { kind: 'boolean', value: Number(value) };
  if (value instanceof Date) return { kind: 'timestamp', value: value.getTime() };
  return value instanceof Duration ? { kind: 'duration', value: value.ms } : null;
}

function order<T extends number | string | bigint>(a: T, b: T): number {
  if (a === b) return 0;
  if (a < b) return -1;
  return a > b ? 1 : Number.NaN;
}

/** Deep equality; values of different types are unequal, never an error. */
export function equal(a: unknown, b: unknown, budget: Budget): boolean {
  budget.spend(1);
  if (!isContainer(a) || !isContainer(b)) return equalScalars(a, b, budget);
  if (Array.isArray(a) && Array.isArray(b)) return equalLists(a, b, budget);
  return !Array.isArray(a) && !Array.isArray(b) && equalMaps(a, b, budget);
}

function equalScalars(a: unknown, b: unknown, budget: Budget): boolean {
  if (typeof a === 'string' && typeof b === 'string' && a.length === b.length) spendLength(a.length, budget);
  if (typeof a === 'bigint' && typeof b === 'bigint') return a === b;
  const left = magnitude(a);
  const right = magnitude(b);
  if (left === null || right === null) return a === b;
  return left.kind === right.kind && left.value === right.value;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Date) && !(value instanceof Duration);
}

function equalLists(a: unknown[], b: unknown[], budget: Budget): boolean {
  return a.length === b.length && a.every((item, index) => equal(item, b[index], budget));
}

function equalMaps(a: Record<string, unknown>, b: Record<string, unknown>, budget: Budget): boolean {
  const keys = spentKeys(a, budget);
  return (
    keys.length === spentKeys(b, budget).length &&
    keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key], budget))
  );
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function mismatch(op: string, a: unknown, b: unknown): Stop {
  return new Stop('type', `${typeName(a)} ${op} ${typeName(b)} has no meaning`);
}
