import { LIMITS } from '../../kinds/fields.ts';
import { type CompiledJsonSchema, compileJsonSchema } from '../../language/json-schema.ts';
import { patternsOfSchema, sizeOfAll } from '../../language/json-schema-size.ts';
import { patternSize } from '../../language/pattern-size.ts';
import { compileRegex, type CompiledRegex } from '../../language/regex.ts';
import { hasMoreTokens } from '../../language/template-tokens.ts';
import type { Values } from './task.ts';

/** Sizes below which the thread of the service computes; what is larger goes to the pool. */
export const INLINE = {
  schemaBytes: 4 * 1024,
  answerBytes: 64 * 1024,
  textChars: 16 * 1024,
  /** Of an expression. */
  sourceChars: 4 * 1024,
  /** Of a template that is small whatever its tags hold, so that each `concurrency.key` is. */
  templateChars: LIMITS.keyChars,
  /** Words, signs and literals of the tags of a longer template, and texts between them. */
  templateTokens: 800,
  values: 5000,
  expressionSteps: 5000,
  templateVisits: 20_000,
  /** Characters of an answer, with the way to each part of it, times the values of its schema and the instructions of its patterns. */
  answerWork: 2_000_000,
  /** Characters of the text times instructions of the pattern. */
  patternWork: 500_000,
  /** Instructions of a pattern, or of all of a schema, estimated before they are compiled. */
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

/** Whether compiling a template takes long: what is in its tags does, not its text. */
export const isLargeTemplate = (source: string): boolean =>
  source.length > INLINE.templateChars && hasMoreTokens(source, INLINE.templateTokens);

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

/** What takes longer to compile, or to check with, than the values of a schema tell. */
const HEAVY_KEYWORD = /"(?:\$ref|unevaluatedItems|unevaluatedProperties)":/;

/** `size` counts its values, and the instructions of its patterns. */
export interface InlineSchema {
  compiled: CompiledJsonSchema;
  size: number;
}

/** The compiled schema, which is `text` as JSON; null where compiling it may take long. */
export function inlineSchema(schema: object, text: string): InlineSchema | null {
  if (Buffer.byteLength(text) > INLINE.schemaBytes || HEAVY_KEYWORD.test(text)) return null;
  const patterns = sizeOfAll(patternsOfSchema(schema));
  if (patterns > INLINE.patternSize) return null;
  const compiled = compileJsonSchema(schema);
  return { compiled, size: patterns + (compiled.ok ? compiled.expanded : 0) };
}

/** Whether an answer is checked inline. */
export function isInlineAnswer({ size }: InlineSchema, answer: unknown): boolean {
  const most = Math.min(INLINE.answerBytes, INLINE.answerWork / size);
  return Buffer.byteLength(JSON.stringify(answer) ?? '') <= most && charsOf(answer) <= most;
}

/** Characters that an error about a part of a value, and an escaped one of the way to it, take as long as. */
const PART_CHARS = 24;
const ESCAPED_CHARS = 16;

/** Characters of a value, for each part of it with those of the way to it: a schema may make many errors about each, and they name it. */
function charsOf(whole: unknown): number {
  const open: [value: unknown, way: number][] = [[whole, 0]];
  let chars = 0;
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, way] = next;
    chars += PART_CHARS + way + (typeof value === 'string' ? value.length : 0);
    if (typeof value === 'object' && value !== null)
      for (const [key, part] of Object.entries(value)) open.push([part, way + 1 + charsOfKey(key)]);
  }
  return chars;
}

const charsOfKey = (key: string): number => key.length + ESCAPED_CHARS * (key.split(/[~/]/).length - 1);

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
