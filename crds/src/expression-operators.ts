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

/** `+ - * / %` of CEL. Integers stay integers; an integer beside a double becomes a double, as JSON knows one kind of number. */
export function arithmetic(op: string, a: unknown, b: unknown, budget: Budget): unknown {
  if (typeof a === 'bigint' && typeof b === 'bigint') return integers(op, a, b);
  if (isNumber(a) && isNumber(b)) return doubles(op, Number(a), Number(b));
  if (op === '+' && typeof a === 'string' && typeof b === 'string') {
    spendLength(a.length + b.length, budget);
    return a + b;
  }
  if (op === '+' && Array.isArray(a) && Array.isArray(b)) {
    spendLength((a.length + b.length) * PER_STEP, budget);
    return [...(a as unknown[]), ...(b as unknown[])];
  }
  if (op === '+' || op === '-') return times(op, a, b);
  throw mismatch(op, a, b);
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

function times(op: '+' | '-', a: unknown, b: unknown): unknown {
  const sign = op === '+' ? 1 : -1;
  if (a instanceof Date && b instanceof Duration) return moment(a.getTime() + sign * b.ms);
  if (a instanceof Date && b instanceof Date && op === '-') return new Duration(a.getTime() - b.getTime());
  if (a instanceof Duration && b instanceof Duration) return new Duration(a.ms + sign * b.ms);
  if (a instanceof Duration && b instanceof Date && op === '+') return moment(a.ms + b.getTime());
  throw mismatch(op, a, b);
}

function moment(ms: number): Date {
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) throw new Stop('type', 'the timestamp is out of range');
  return date;
}

/** Negative, zero or positive, as `<` and its like need it; NaN compares false with everything. */
export function compare(a: unknown, b: unknown): number {
  if (typeof a === 'bigint' && typeof b === 'bigint') return Number(a > b) - Number(a < b);
  if (isNumber(a) && isNumber(b)) return order(Number(a), Number(b));
  if (typeof a === 'string' && typeof b === 'string') return order(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Date && b instanceof Date) return a.getTime() - b.getTime();
  if (a instanceof Duration && b instanceof Duration) return a.ms - b.ms;
  throw mismatch('<', a, b);
}

function order<T extends number | string>(a: T, b: T): number {
  if (a === b) return 0;
  if (a < b) return -1;
  return a > b ? 1 : Number.NaN;
}

/** Deep equality; values of different types are unequal, never an error. */
export function equal(a: unknown, b: unknown, budget: Budget): boolean {
  budget.spend(1);
  if (isNumber(a) && isNumber(b)) return typeof a === typeof b ? a === b : Number(a) === Number(b);
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length === b.length) spendLength(a.length, budget);
    return a === b;
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (a instanceof Date || b instanceof Date)
    return a instanceof Date && b instanceof Date && a.getTime() === b.getTime();
  if (a instanceof Duration || b instanceof Duration)
    return a instanceof Duration && b instanceof Duration && a.ms === b.ms;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && equalLists(a, b, budget);
  return equalMaps(a as Record<string, unknown>, b as Record<string, unknown>, budget);
}

function equalLists(a: unknown[], b: unknown[], budget: Budget): boolean {
  return a.length === b.length && a.every((item, index) => equal(item, b[index], budget));
}

function equalMaps(a: Record<string, unknown>, b: Record<string, unknown>, budget: Budget): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key], budget))
  );
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function mismatch(op: string, a: unknown, b: unknown): Stop {
  return new Stop('type', `${typeName(a)} ${op} ${typeName(b)} has no meaning`);
}
