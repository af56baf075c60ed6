import { patternSize } from '../../language/pattern-size.ts';
import { compileRegex, type CompiledRegex } from '../../language/regex.ts';
import type { Values } from './task.ts';

/** Sizes below which the thread of the service computes; what is larger goes to the pool. */
export const INLINE = {
  schemaBytes: 4 * 1024,
  answerBytes: 64 * 1024,
  textChars: 16 * 1024,
  /** Of an expression or a template. */
  sourceChars: 4 * 1024,
  values: 5000,
  expressionSteps: 5000,
  templateVisits: 20_000,
  /** Characters of the text, or bytes of the answer, times instructions of the patterns. */
  patternWork: 500_000,
  /** Instructions of a pattern, estimated before it is compiled. */
  patternSize: 1000,
} as const;

/** Characters, those of names among them, and values of the context of one task in the pool: they are copied. */
const MAX_COPIED_CHARS = 16 * 1024 * 1024;
const MAX_COPIED_VALUES = 200_000;

/** How much an expression may meet: `small` is computed inline, `huge` not at all. The steps of a run become more from text to text. */
export function sizeOfValues(values: Values): 'small' | 'large' | 'huge' {
  const { count, chars, longest } = sum(values, NAMED_LEVELS - 1, values['steps']);
  if (chars > MAX_COPIED_CHARS || count > MAX_COPIED_VALUES) return 'huge';
  return longest <= INLINE.textChars && count <= INLINE.values ? 'small' : 'large';
}

interface Weight {
  count: number;
  chars: number;
  longest: number;
}

/** What texts name of a run: `metadata.data`. */
const NAMED_LEVELS = 2;
/** Of what is not small: the texts of a run name the same data again and again. */
const known = new WeakMap<object, Weight>();

function weigh(value: unknown, levels: number): Weight {
  if (typeof value !== 'object' || value === null) return walk(value);
  const before = known.get(value);
  if (before) return before;
  const weight = levels === 0 ? walk(value) : sum(value, levels - 1);
  if (weight.count > INLINE.values) known.set(value, weight);
  return weight;
}

function sum(value: object, levels: number, growing?: unknown): Weight {
  const all = { count: 1, ...namesOf(value) };
  for (const part of partsOf(value, MAX_COPIED_VALUES)) {
    const isGrowing = part === growing && typeof part === 'object' && part !== null;
    const { count, chars, longest } = isGrowing ? sum(part, levels - 1) : weigh(part, levels);
    all.count += count;
    all.chars += chars;
    all.longest = Math.max(all.longest, longest);
    if (all.count > MAX_COPIED_VALUES) break;
  }
  return all;
}

function walk(whole: unknown): Weight {
  const open = [whole];
  let chars = 0;
  let longest = 0;
  for (let at = 0; at < open.length; at++) {
    const value = open[at];
    if (typeof value === 'string') {
      chars += value.length;
      longest = Math.max(longest, value.length);
    } else if (typeof value === 'object' && value !== null) {
      const names = namesOf(value);
      chars += names.chars;
      longest = Math.max(longest, names.longest);
      for (const part of partsOf(value, MAX_COPIED_VALUES - open.length)) open.push(part);
    }
    if (chars > MAX_COPIED_CHARS || open.length > MAX_COPIED_VALUES) break;
  }
  return { count: open.length, chars, longest };
}

/** Characters of the names of a map. */
function namesOf(value: object): Pick<Weight, 'chars' | 'longest'> {
  const all = { chars: 0, longest: 0 };
  if (Array.isArray(value)) return all;
  for (const { length } of Object.keys(value)) {
    all.chars += length;
    all.longest = Math.max(all.longest, length);
  }
  return all;
}

/** The parts of a list or map, one more than `most` where there are more. */
function partsOf(value: object, most: number): unknown[] {
  return (Array.isArray(value) ? (value as unknown[]) : Object.values(value)).slice(0, most + 1);
}

const HEAVY_KEYWORDS = new Set([
  '$ref',
  '$dynamicRef',
  'uniqueItems',
  'unevaluatedItems',
  'unevaluatedProperties',
  'dependentSchemas',
  'dependencies',
  'patternProperties',
]);
const ALTERNATIVES = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'if', 'contains']);

/**
 * About how many instructions the patterns of a schema have that is compiled inline; null where compiling it, or checking with it,
 * may take long.
 */
export function inlinePatternsOf(schema: object, bytes: number): number | null {
  const found = { instructions: 0 };
  return bytes <= INLINE.schemaBytes && isPlain(schema, 0, found) ? found.instructions : null;
}

interface Found {
  instructions: number;
}

function isPlain(schema: unknown, alternatives: number, found: Found): boolean {
  if (typeof schema !== 'object' || schema === null) return true;
  if (Array.isArray(schema)) return schema.every((item) => isPlain(item, alternatives, found));
  return Object.entries(schema).every(([key, part]) => isPlainKeyword(key, part, { alternatives, found }));
}

function isPlainKeyword(key: string, part: unknown, { alternatives, found }: { alternatives: number; found: Found }) {
  if (HEAVY_KEYWORDS.has(key)) return false;
  if (key === 'pattern') {
    if (typeof part !== 'string' || part.length > 100) return false;
    const size = patternSize(part);
    found.instructions += size;
    return size <= 200;
  }
  if (key === 'properties' && typeof part === 'object' && part !== null)
    return isPlain(Object.values(part), alternatives, found);
  const inside = alternatives + (ALTERNATIVES.has(key) ? 1 : 0);
  return inside <= 1 && isPlain(part, inside, found);
}

const compiledPatterns = new Map<string, CompiledRegex | null>();
const MAX_PATTERNS = 1000;

/** The compiled pattern; null where compiling it may take long. */
export function inlinePattern(source: string): CompiledRegex | null {
  const known = compiledPatterns.get(source);
  if (known !== undefined) return known;
  const compiled = patternSize(source) <= INLINE.patternSize ? compileRegex(source) : null;
  if (compiledPatterns.size >= MAX_PATTERNS) compiledPatterns.delete(compiledPatterns.keys().next().value as string);
  compiledPatterns.set(source, compiled);
  return compiled;
}
