import { type Budget, Duration, Stop, typeName } from './expression-fault.ts';
import { spendLength, spentKeys } from './expression-operators.ts';
import { findText, splitText } from './find-text.ts';
import { patternSize } from './pattern-size.ts';
import { compileRegex, MAX_PATTERN_TEXT } from './regex.ts';

type Call = (args: readonly unknown[], budget: Budget) => unknown;
interface Known {
  arity: readonly number[];
  call: Call;
}

const text = (value: unknown): string => {
  if (typeof value !== 'string') throw new Stop('type', `needs a string, not ${typeName(value)}`);
  return value;
};

const FUNCTIONS = new Map<string, Known>([
  ['size', { arity: [1], call: ([value], budget) => size(value, budget) }],
  ['string', { arity: [1], call: ([value]) => toText(value) }],
  ['int', { arity: [1], call: parsed(toInteger) }],
  ['double', { arity: [1], call: parsed(toDouble) }],
  ['bool', { arity: [1], call: ([value]) => toBool(value) }],
  ['dyn', { arity: [1], call: ([value]) => value }],
  ['timestamp', { arity: [1], call: parsed(toTimestamp) }],
  ['duration', { arity: [1], call: ([value]) => toDuration(value) }],
]);

/** Methods; the receiver is the first argument. */
const METHODS = new Map<string, Known>([
  ['size', { arity: [0], call: ([value], budget) => size(value, budget) }],
  ['contains', { arity: [1], call: onText((a, b) => findText(a, b) !== -1) }],
  ['startsWith', { arity: [1], call: onText((a, b) => a.startsWith(b)) }],
  ['endsWith', { arity: [1], call: onText((a, b) => a.endsWith(b)) }],
  ['matches', { arity: [1], call: ([a, b], budget) => matches(text(a), text(b), budget) }],
  ['indexOf', { arity: [1], call: onText((a, b) => BigInt(findText(a, b))) }],
  ['split', { arity: [1], call: ([a, b], budget) => split(text(a), text(b), budget) }],
  ['join', { arity: [0, 1], call: ([list, by], budget) => join(list, by, budget) }],
  ['lowerAscii', { arity: [0], call: onText((a) => a.toLowerCase()) }],
  ['upperAscii', { arity: [0], call: onText((a) => a.toUpperCase()) }],
  ['trim', { arity: [0], call: onText((a) => a.trim()) }],
  ['getFullYear', { arity: [0], call: onDate((date) => date.getUTCFullYear()) }],
  ['getMonth', { arity: [0], call: onDate((date) => date.getUTCMonth()) }],
  ['getDate', { arity: [0], call: onDate((date) => date.getUTCDate()) }],
  ['getDayOfWeek', { arity: [0], call: onDate((date) => date.getUTCDay()) }],
  ['getHours', { arity: [0], call: onTime((date) => date.getUTCHours(), 3_600_000) }],
  ['getMinutes', { arity: [0], call: onTime((date) => date.getUTCMinutes(), 60_000) }],
  ['getSeconds', { arity: [0], call: onTime((date) => date.getUTCSeconds(), 1000) }],
]);

export function isFunction(name: string, argumentsGiven: number): boolean {
  return FUNCTIONS.get(name)?.arity.includes(argumentsGiven) ?? false;
}

export function isMethod(name: string, argumentsGiven: number): boolean {
  return METHODS.get(name)?.arity.includes(argumentsGiven) ?? false;
}

export function callFunction(name: string, args: readonly unknown[], budget: Budget): unknown {
  return call(FUNCTIONS.get(name), name, args, budget);
}

export function callMethod(name: string, receiver: unknown, args: readonly unknown[], budget: Budget): unknown {
  return call(METHODS.get(name), name, [receiver, ...args], budget);
}

function call(known: Known | undefined, name: string, args: readonly unknown[], budget: Budget): unknown {
  if (!known) throw new Stop('type', `unknown function ${name}()`);
  return known.call(args, budget);
}

/** Text functions read their whole receiver, so its length is spent. */
function onText(apply: (a: string, b: string) => unknown): Call {
  return ([a, b], budget) => {
    const receiver = text(a);
    const argument = b === undefined ? '' : text(b);
    spendLength(receiver.length + argument.length, budget);
    return apply(receiver, argument);
  };
}

/** Of a text, all of which is read. */
function parsed(read: (value: unknown) => unknown): Call {
  return ([value], budget) => {
    if (typeof value === 'string') spendLength(value.length, budget);
    return read(value);
  };
}

/** Characters times instructions: each character may be compared with all of a pattern. */
const WORK_OF_A_STEP = 200;

/** RE2 is linear, but each character costs much more than a copy does, and so does each instruction that is compiled. */
function matches(value: string, pattern: string, budget: Budget): boolean {
  if (value.length > MAX_PATTERN_TEXT)
    throw new Stop('limit', `matches() reads texts of at most ${MAX_PATTERN_TEXT} characters`);
  budget.spend(100 + Math.ceil((value.length + pattern.length + patternSize(pattern)) / 4));
  const compiled = compileRegex(pattern);
  // A limit ends the expression: behind `||` one that was told wrongly would be compiled again and again.
  if (!compiled.ok) throw new Stop(compiled.tooLarge ? 'limit' : 'type', compiled.msg);
  budget.spend(Math.ceil((value.length * compiled.size) / WORK_OF_A_STEP));
  return compiled.test(value);
}

function onDate(read: (date: Date) => number): Call {
  return ([value]) => {
    if (!(value instanceof Date)) throw new Stop('type', `needs a timestamp, not ${typeName(value)}`);
    return BigInt(read(value));
  };
}

function onTime(read: (date: Date) => number, unit: number): Call {
  return ([value], budget) =>
    value instanceof Duration ? BigInt(Math.trunc(value.ms / unit)) : onDate(read)([value], budget);
}

function size(value: unknown, budget: Budget): bigint {
  if (typeof value === 'string') {
    spendLength(value.length, budget);
    return BigInt(Array.from(value).length);
  }
  if (Array.isArray(value)) return BigInt(value.length);
  if (typeof value === 'object' && value !== null) return BigInt(spentKeys(value, budget).length);
  throw new Stop('type', `${typeName(value)} has no size`);
}

function split(value: string, separator: string, budget: Budget): string[] {
  spendLength(value.length * 4, budget);
  return splitText(value, separator);
}

function join(list: unknown, by: unknown, budget: Budget): string {
  if (!Array.isArray(list)) throw new Stop('type', `needs a list, not ${typeName(list)}`);
  spendLength(list.length, budget);
  const parts = list.map(text);
  const separator = by === undefined ? '' : text(by);
  spendLength(
    parts.reduce((sum, part) => sum + part.length + separator.length, 0),
    budget,
  );
  return parts.join(separator);
}

function toText(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Duration) return `${value.ms / 1000}s`;
  if (typeof value === 'object' || value === undefined) throw new Stop('type', `${typeName(value)} is no text`);
  return String(value);
}

function toDouble(value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'bigint') return Number(number);
  if (typeof number !== 'number' || (typeof value === 'string' && Number.isNaN(number)))
    throw new Stop('type', `${typeName(value)} is no number`);
  return number;
}

function toInteger(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  if (value instanceof Date) return BigInt(Math.trunc(value.getTime() / 1000));
  const number = Math.trunc(toDouble(value));
  if (!Number.isSafeInteger(number)) throw new Stop('type', 'the number is no integer');
  return BigInt(number);
}

function toBool(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  throw new Stop('type', `${typeName(value)} is neither true nor false`);
}

function toTimestamp(value: unknown): Date {
  if (value instanceof Date) return value;
  const date = new Date(typeof value === 'bigint' ? Number(value) * 1000 : text(value));
  if (Number.isNaN(date.getTime())) throw new Stop('type', 'is no timestamp');
  return date;
}

const UNITS: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** `1h30m`, `-2.5s`, `10ms`. */
function toDuration(value: unknown): Duration {
  if (value instanceof Duration) return value;
  const source = text(value);
  const sign = source.startsWith('-') ? -1 : 1;
  const parts = [...source.slice(0, 100).matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)];
  const length = parts.reduce((sum, [part]) => sum + part.length, 0);
  if (parts.length === 0 || length !== source.length - (sign === -1 ? 1 : 0))
    throw new Stop('type', 'is not a duration');
  return new Duration(
    sign * parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNITS[unit ?? ''] ?? 0), 0),
  );
}
