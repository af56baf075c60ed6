import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Loc } from './problem.ts';
import { compileRegex } from './regex.ts';

export interface SchemaError {
  loc: Loc;
  msg: string;
}
export type SchemaResult = { ok: true } | { ok: false; errors: SchemaError[] };
export type CompiledJsonSchema = { ok: true; validate: (value: unknown) => SchemaResult } | { ok: false; msg: string };

const MAX_ERRORS = 20;

/** RE2 behind ajv's regular expression port, so that a hostile `pattern` cannot block the process. */
function re2(source: string): { test: (text: string) => boolean } {
  const compiled = compileRegex(source);
  if (!compiled.ok) throw new SyntaxError(compiled.msg);
  return { test: compiled.test };
}
re2.code = 're2';

const OPTIONS = { allErrors: false, strict: false, logger: false, code: { regExp: re2 } } as const;
const META_SCHEMA = 'https://json-schema.org/draft/2020-12/schema';

/** Only checks schemas against the meta-schema, which takes milliseconds to compile; nothing is ever added to it. */
let metaSchema: Ajv2020 | undefined;

/**
 * Compiles a JSON Schema (2020-12) once. Remote references are not followed; `pattern` is RE2; values are not changed.
 * Each call has its own compiler, so that schemas with the same `$id` do not collide and memory is freed with the schema.
 */
export function compileJsonSchema(schema: unknown): CompiledJsonSchema {
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || schema === null || Array.isArray(schema)))
    return { ok: false, msg: 'must be a JSON Schema object' };
  try {
    const meta = (metaSchema ??= new Ajv2020(OPTIONS));
    if (!meta.validate(META_SCHEMA, schema))
      return { ok: false, msg: `invalid JSON Schema: ${meta.errorsText(meta.errors, { dataVar: 'schema' })}` };
    const ajv = new Ajv2020({ ...OPTIONS, meta: false, validateSchema: false });
    formats.default(ajv, {
      mode: 'fast',
      formats: ['date', 'time', 'date-time', 'uuid', 'ipv4', 'ipv6', 'email', 'uri'],
    });
    const check = ajv.compile(schema as object);
    if ('$async' in check) return { ok: false, msg: 'an $async schema cannot be used here' };
    return { ok: true, validate: (value) => run(check, value) };
  } catch (error) {
    return { ok: false, msg: `invalid JSON Schema: ${error instanceof Error ? error.message : 'cannot be compiled'}` };
  }
}

/** A schema that refers to itself without end exhausts the stack at validation: that is a failed validation, not a crash. */
function run(check: ValidateFunction, value: unknown): SchemaResult {
  try {
    return check(value) ? { ok: true } : { ok: false, errors: (check.errors ?? []).slice(0, MAX_ERRORS).map(describe) };
  } catch {
    return { ok: false, errors: [{ loc: [], msg: 'the schema cannot be evaluated on this value' }] };
  }
}

function describe(error: { instancePath: string; message?: string; params: Record<string, unknown> }): SchemaError {
  const extra = error.params['additionalProperty'];
  const detail = typeof extra === 'string' ? `: ${extra}` : '';
  return { loc: parsePointer(error.instancePath), msg: `${error.message ?? 'is invalid'}${detail}` };
}

function parsePointer(pointer: string): Loc {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
