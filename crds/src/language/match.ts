import { patternRoom, roomProblem } from './pattern-room.ts';
import { compileRegex, MAX_PATTERN_TEXT } from './regex.ts';

/** The values that a trigger's match can use (Orchestration 4.1). */
export interface MatchContext {
  source?: string | null;
  severity?: string | null;
  summary?: string | null;
  pipeline?: string | null;
  fingerprint?: string | null;
  team?: string | null;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, unknown>>;
  metadata?: Readonly<Record<string, unknown>>;
}

export interface MatchProblem {
  key: string;
  /** An unknown operator only warns (the rule never matches); a pattern that is no regular expression is an error. */
  severity: 'error' | 'warning';
  msg: string;
}

/** One rule compared with a context. */
export interface RuleOutcome {
  key: string;
  rule: unknown;
  /** What the context has under the key; null for nothing. */
  actual: unknown;
  holds: boolean;
}

/** The first rule that does not hold, and how many do. */
export interface MatchFailure extends Omit<RuleOutcome, 'holds'> {
  held: number;
}

export interface CompiledMatch {
  warnings: string[];
  problems: MatchProblem[];
  /** What it costs at most to compare the rules, without the patterns; in the same measure as `patternWork`. */
  work: number;
  /** Whether the rules without a pattern hold. */
  plainHold: (context: MatchContext) => boolean;
  /** What the patterns cost on a context at most: characters times instructions. Null where a rule without a pattern does not hold. */
  patternWork: (context: MatchContext) => number | null;
  /** `onTooLong` gets the key of a pattern that met a text longer than it, or all patterns together, read; it does not match. */
  matches: (context: MatchContext, onTooLong?: (key: string) => void) => boolean;
  /** Why a context does not match; null where it does. */
  failure: (context: MatchContext, budget?: PatternBudget) => MatchFailure | null;
  /** Every rule, in the order written. */
  compare: (context: MatchContext, budget?: PatternBudget) => RuleOutcome[];
}

/** What patterns may still cost: characters times instructions. One that would cost more does not match. */
export interface PatternBudget {
  left: number;
}
/** All patterns of a match on one context: a tenth of a second at most. */
export const MAX_PATTERN_WORK = 2_000_000;
/** Of one rule, beside its pattern. */
const RULE_WORK = 10;
export const patternBudget = (): PatternBudget => ({ left: MAX_PATTERN_WORK });

type Test = (actual: unknown) => boolean;
/** `size` counts the instructions of a pattern; without one it is null. */
type Parsed = { ok: true; test: Test; size?: number } | { ok: false; severity: MatchProblem['severity']; msg: string };

interface Rule {
  key: string;
  rule: unknown;
  read: (context: MatchContext) => unknown;
  test: Test;
  size: number | null;
}

const FIELDS = ['source', 'severity', 'summary', 'pipeline', 'fingerprint', 'team'] as const;
const MAPS = ['labels', 'annotations', 'metadata'] as const;

/** Compiles `trigger.match` once; all rules must hold, no rules match everything. Never throws. */
export function compileMatch(match: Readonly<Record<string, unknown>>): CompiledMatch {
  const problems: MatchProblem[] = [];
  const room = patternRoom();
  const rules = Object.entries(match).map(([key, rule]): Rule => {
    const tooMuch = roomProblem(room, patternsOf(rule));
    const parsed: Parsed = tooMuch === null ? parseRule(rule) : { ok: false, severity: 'error', msg: tooMuch };
    if (!parsed.ok) problems.push({ key, severity: parsed.severity, msg: parsed.msg });
    const { test, size = null } = parsed.ok ? parsed : { test: never };
    return { key, rule, read: reader(key), test, size };
  });
  const plain = rules.filter(({ size }) => size === null);
  const patterns = rules.filter(({ size }) => size !== null);
  const plainHold = (context: MatchContext) => plain.every(({ read, test }) => test(read(context) ?? null));
  const compare = (context: MatchContext, budget = patternBudget()): RuleOutcome[] =>
    rules.map((one) => {
      const actual = one.read(context) ?? null;
      return { key: one.key, rule: one.rule, actual, holds: holds(one, actual, budget) === true };
    });
  return {
    compare,
    problems,
    work: rules.length * RULE_WORK,
    plainHold,
    warnings: problems.map(({ key, msg }) => `match.${key}: ${msg}`),
    patternWork: (context) =>
      plainHold(context) ? patterns.reduce((sum, one) => sum + (workOf(one, one.read(context) ?? null) ?? 0), 0) : null,
    matches: (context, onTooLong) => {
      const budget = patternBudget();
      return (
        plainHold(context) &&
        patterns.every((one) => {
          const held = holds(one, one.read(context) ?? null, budget);
          if (held === null) onTooLong?.(one.key);
          return held === true;
        })
      );
    },
    failure: (context, budget = patternBudget()) => {
      let first: Omit<MatchFailure, 'held'> | null = null;
      let held = 0;
      for (const one of rules) {
        const actual = one.read(context) ?? null;
        if (holds(one, actual, budget) === true) held += 1;
        else first ??= { key: one.key, rule: one.rule, actual };
      }
      return first && { ...first, held };
    },
  };
}

/** Null where the text is too long for the pattern, or for what is left of the budget. */
function holds(one: Rule, actual: unknown, budget: PatternBudget): boolean | null {
  const work = workOf(one, actual);
  if (work === null || work > budget.left) return null;
  budget.left -= work;
  return one.test(actual);
}

/** Null where the text is too long: its first part alone could meet a pattern that the whole does not. */
function workOf({ size }: Rule, actual: unknown): number | null {
  if (size === null || actual === null) return 0;
  const { length } = textOf(actual);
  return length > MAX_PATTERN_TEXT ? null : length * size;
}

const patternsOf = (rule: unknown): string[] =>
  isObject(rule) && typeof rule['regex'] === 'string' ? [rule['regex']] : [];

const never: Test = () => false;

function parseRule(rule: unknown): Parsed {
  if (!isObject(rule))
    return isScalar(rule)
      ? { ok: true, test: equals(rule) }
      : warning('a list is no rule; use {in: [...]}; never matches');
  const operators = Object.keys(rule);
  const [name] = operators;
  if (name === undefined || operators.length > 1) return warning('needs exactly one operator; never matches');
  const make = OPERATORS.get(name);
  if (!make) return warning(`unknown operator "${name}"; never matches`);
  return make(rule[name]);
}

const OPERATORS = new Map<string, (operand: unknown) => Parsed>([
  ['eq', (operand) => scalar(operand, equals)],
  ['ne', (operand) => scalar(operand, (value) => not(equals(value)))],
  ['in', (operand) => list(operand, (test) => test)],
  ['not_in', (operand) => list(operand, not)],
  ['regex', regex],
  ['gt', (operand) => numeric(operand, (a, b) => a > b)],
  ['gte', (operand) => numeric(operand, (a, b) => a >= b)],
  ['lt', (operand) => numeric(operand, (a, b) => a < b)],
  ['lte', (operand) => numeric(operand, (a, b) => a <= b)],
]);

function equals(expected: unknown): Test {
  if (expected === null) return (actual) => actual === null;
  const text = String(expected);
  return (actual) => isScalar(actual) && actual !== null && String(actual) === text;
}

function not(test: Test): Test {
  return (actual) => !test(actual);
}

function scalar(operand: unknown, make: (value: unknown) => Test): Parsed {
  return isScalar(operand) ? { ok: true, test: make(operand) } : warning('needs a scalar; never matches');
}

/** In the list of one rule. */
const MAX_VALUES = 1_000;

function list(operand: unknown, wrap: (test: Test) => Test): Parsed {
  if (!Array.isArray(operand) || !operand.every(isScalar)) return warning('needs a list of scalars; never matches');
  if (operand.length > MAX_VALUES)
    return { ok: false, severity: 'error', msg: `may have at most ${MAX_VALUES} values` };
  const texts = new Set(operand.filter((item) => item !== null).map(String));
  const withNull = operand.includes(null);
  return {
    ok: true,
    test: wrap((actual) => (actual === null ? withNull : isScalar(actual) && texts.has(String(actual)))),
  };
}

function regex(operand: unknown): Parsed {
  if (typeof operand !== 'string') return warning('needs a pattern; never matches');
  const compiled = compileRegex(operand);
  if (!compiled.ok) return { ok: false, severity: 'error', msg: compiled.msg };
  return {
    ok: true,
    size: compiled.size,
    test: (actual) => actual !== null && compiled.test(textOf(actual)),
  };
}

/** The values of an alert are asked for by each pipeline, and change no more. */
const texts = new WeakMap<object, string>();

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const text = texts.get(value) ?? JSON.stringify(value);
  texts.set(value, text);
  return text;
}

function numeric(operand: unknown, compare: (a: number, b: number) => boolean): Parsed {
  const right = toNumber(operand);
  if (right === null) return warning('needs a number; never matches');
  return { ok: true, test: (actual) => compareNumbers(toNumber(actual), right, compare) };
}

function compareNumbers(left: number | null, right: number, compare: (a: number, b: number) => boolean): boolean {
  return left !== null && compare(left, right);
}

/** To read a number takes longer the longer its text is. */
const MAX_NUMBER_TEXT = 1_000;

function toNumber(value: unknown): number | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  if (typeof value === 'string' && (value.length > MAX_NUMBER_TEXT || value.trim() === '')) return null;
  const number = Number(value);
  return Number.isNaN(number) ? null : number;
}

function reader(key: string): (context: MatchContext) => unknown {
  const map = MAPS.find((name) => key.startsWith(`${name}.`));
  const inMap = key.slice((map?.length ?? 0) + 1);
  if (map) return (context) => own(context[map], inMap);
  const field = FIELDS.find((name) => name === key);
  return (context) => (field && context[field]) ?? own(context.labels, key) ?? own(context.metadata, key);
}

function own(map: Readonly<Record<string, unknown>> | undefined, key: string): unknown {
  return map && Object.hasOwn(map, key) ? map[key] : undefined;
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function warning(msg: string): Parsed {
  return { ok: false, severity: 'warning', msg };
}
