import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { canonicalJson } from '../hash.ts';
import { valuesIn } from './json-schema-graph.ts';
import { measureSchema } from './json-schema-size.ts';
import type { Loc } from '../problem.ts';
import { cutShort, startOf } from '../start-of.ts';
import { compileRegex, MAX_PATTERN_TEXT } from './regex.ts';

export interface SchemaError {
  loc: Loc;
  msg: string;
}
export type SchemaResult = { ok: true } | { ok: false; errors: SchemaError[] };
/** `expanded`: at most so many times each part of a value is looked at. */
export type CompiledJsonSchema =
  | { ok: true; expanded: number; validate: (value: unknown) => SchemaResult }
  | { ok: false; msg: string };

/** Whether a schema can be compiled. `passing`: another try may succeed. */
export type SchemaVerdict = { ok: true } | { ok: false; msg: string; passing?: true };

const MAX_ERRORS = 20;

/** Bounds of one validation: of the value as JSON, of all texts with a `pattern`, and of values times schemas. */
export const VALIDATION_LIMITS = {
  bytes: 1024 * 1024,
  allPatternChars: 512 * 1024,
  work: 10_000_000,
} as const;
/** Bytes of texts that weigh as much as one value. */
const BYTES_PER_VALUE = 64;

class TooMuch extends Error {}

/** RE2 behind ajv's regular expression port, so that a hostile `pattern` cannot block the process. */
function re2(source: string, spend: (chars: number) => void) {
  const compiled = compileRegex(source);
  if (!compiled.ok) throw new SyntaxError(compiled.msg);
  const test = (text: string) => {
    spend(text.length);
    return compiled.test(text);
  };
  // ajv tells patterns of one schema apart by their text.
  return { test, toString: () => source };
}

/** The patterns of one schema, and the characters that they may still read. */
function boundedPatterns() {
  let left = 0;
  const spend = (chars: number): void => {
    if (chars > MAX_PATTERN_TEXT)
      throw new TooMuch(`a text with a pattern is longer than ${MAX_PATTERN_TEXT} characters`);
    left -= chars;
    if (left < 0)
      throw new TooMuch(`the patterns have to read more than ${VALIDATION_LIMITS.allPatternChars} characters`);
  };
  const begin = () => (left = VALIDATION_LIMITS.allPatternChars);
  return { begin, regExp: Object.assign((source: string) => re2(source, spend), { code: 're2' }) };
}

const OPTIONS = { allErrors: false, strict: false, logger: false } as const;
const META_SCHEMA = 'https://json-schema.org/draft/2020-12/schema';

/** Only checks schemas against the meta-schema, which takes milliseconds to compile; nothing is ever added to it. */
let metaSchema: Ajv2020 | undefined;

/**
 * Compiles a JSON Schema (2020-12) once, if it is within `SCHEMA_LIMITS`. References stay within the schema; `pattern` is RE2;
 * values are not changed. Each call has its own compiler, so that schemas with the same `$id` do not collide and memory is
 * freed with the schema.
 */
export function compileJsonSchema(schema: unknown): CompiledJsonSchema {
  if (!isSchema(schema)) return { ok: false, msg: 'must be a JSON Schema object' };
  const size = measureSchema(schema);
  if (!size.ok) return { ok: false, msg: `JSON Schema ${size.msg}` };
  try {
    const meta = (metaSchema ??= new Ajv2020(OPTIONS));
    if (!meta.validate(META_SCHEMA, schema))
      return { ok: false, msg: `invalid JSON Schema: ${meta.errorsText(meta.errors, { dataVar: 'schema' })}` };
    const patterns = boundedPatterns();
    const check = compilerWith(patterns.regExp).compile(withoutId(schema));
    if ('$async' in check) return { ok: false, msg: 'an $async schema cannot be used here' };
    const validate = (value: unknown): SchemaResult => {
      patterns.begin();
      return run(check, value, size.expanded);
    };
    return { ok: true, expanded: size.expanded, validate };
  } catch (error) {
    return { ok: false, msg: `invalid JSON Schema: ${error instanceof Error ? error.message : 'cannot be compiled'}` };
  }
}

const isSchema = (value: unknown): value is boolean | Record<string, unknown> =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));

/** References name the root as `#`; an `$id` would lead ajv to look for it among what it knows by name. */
const withoutId = (schema: boolean | Record<string, unknown>) =>
  typeof schema === 'boolean' ? schema : { ...schema, $id: undefined };

/** Each anchor would compile its schema once more, and with it those in it; what refers to anchors is refused. */
const REMOVED = ['$dynamicAnchor', '$recursiveAnchor', 'uniqueItems'];

/** Neither inlined references nor the optimizer: both take time that grows with the square of the schema. */
function compilerWith(regExp: ReturnType<typeof boundedPatterns>['regExp']): Ajv2020 {
  const code = { regExp, optimize: false } as const;
  const ajv = new Ajv2020({ ...OPTIONS, code, inlineRefs: false, meta: false, validateSchema: false });
  formats.default(ajv, {
    mode: 'fast',
    formats: ['date', 'time', 'date-time', 'uuid', 'ipv4', 'ipv6', 'email', 'uri'],
  });
  for (const keyword of REMOVED) ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    error: { message: 'must NOT have duplicate items' },
    validate: (unique: boolean, items: unknown[]) => !unique || new Set(items.map(canonicalJson)).size === items.length,
  });
  return ajv;
}

/** A value that is nested too deep exhausts the stack: that is a failed validation, not a crash. */
function run(check: ValidateFunction, value: unknown, expanded: number): SchemaResult {
  try {
    refuseHeavy(value, expanded);
    return check(value) ? { ok: true } : { ok: false, errors: (check.errors ?? []).slice(0, MAX_ERRORS).map(describe) };
  } catch (error) {
    const msg = error instanceof TooMuch ? error.message : 'the schema cannot be evaluated on this value';
    return { ok: false, errors: [{ loc: [], msg }] };
  } finally {
    // A list that may take more memory than the value, and would be kept as long as the schema.
    check.errors = null;
  }
}

function refuseHeavy(value: unknown, expanded: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes > VALIDATION_LIMITS.bytes) throw new TooMuch('is larger than 1 MiB');
  const size = valuesIn(value) + bytes / BYTES_PER_VALUE;
  if (size * expanded > VALIDATION_LIMITS.work)
    throw new TooMuch('is too large to be checked against so large a schema');
}

/** Of an error: characters of a key and of the message, and keys of the location. A value has the keys that whoever wrote it likes. */
const MOST_KEY_CHARS = 100;
const MOST_MESSAGE_CHARS = 300;
const MOST_KEYS = 20;

function describe(error: { instancePath: string; message?: string; params: Record<string, unknown> }): SchemaError {
  const extra = error.params['additionalProperty'];
  const detail = typeof extra === 'string' ? `: ${cutShort(extra, MOST_KEY_CHARS)}` : '';
  const message = cutShort(error.message ?? 'is invalid', MOST_MESSAGE_CHARS);
  return { loc: parsePointer(error.instancePath), msg: `${message}${detail}` };
}

function parsePointer(pointer: string): Loc {
  const keys = pointer.split('/').slice(1);
  const loc = keys
    .slice(0, MOST_KEYS)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((key) => (/^\d{1,15}$/.test(key) ? Number(key) : shortKey(key)));
  return keys.length > MOST_KEYS ? [...loc, '…'] : loc;
}

/** A copy in any case: as a part of the location it keeps all of that in memory. */
const shortKey = (key: string): string => `${startOf(key, MOST_KEY_CHARS)}${key.length > MOST_KEY_CHARS ? '…' : ''}`;
