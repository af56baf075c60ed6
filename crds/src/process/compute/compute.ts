import type { ComputeLimit } from '../../language/compute-limit.ts';
import {
  compileJsonSchema,
  type CompiledJsonSchema,
  type SchemaResult,
  type SchemaVerdict,
} from '../../language/json-schema.ts';
import { SCHEMA_LIMITS } from '../../language/json-schema-size.ts';
import type { Ahead } from '../../resolve/turns.ts';
import type { Done } from '../../resolve/work.ts';
import type { Owner } from './fair-queue.ts';
import { INLINE, inlinePattern, inlineSchema, type InlineSchema, isInlineAnswer } from './inline.ts';
import type { ResultOf, Task } from './task.ts';
import { createWorkerPool, type PoolLimits } from './worker-pool.ts';

/**
 * Computes what others wrote: in place where that takes no time to speak of, else in a thread that is ended when it takes too long.
 * After two tasks that ended their thread no more are taken for their run. Shares (pipelines, agents) take turns.
 */
export interface Compute {
  /** In a thread, whatever the size. */
  inThread<T extends Task>(task: T, owner: Owner): Promise<ResultOf<T> | ComputeLimit>;
  /** At once where the schema is small. */
  checkSchema(schema: unknown, share: string): SchemaVerdict | Promise<SchemaVerdict>;
  validate(schema: object, value: unknown, owner: Owner): Promise<SchemaResult | ComputeLimit>;
  /** Whether a pattern is found in a text. Null where that took too long. */
  matches(pattern: string, text: string, share: string): boolean | Promise<boolean | null>;
  isBarred(run: string): boolean;
  close(): Promise<void>;
}

interface KnownSchema {
  text: string;
  bytes: number;
  /** Null where it is not compiled here. */
  inline: InlineSchema | null;
}

/** Verdicts about schemas that are kept. */
const MAX_VERDICTS = 200;

export function createCompute(limits: PoolLimits): Compute {
  const pool = createWorkerPool(limits);
  const known = new WeakMap<object, KnownSchema>();
  const verdicts = new Map<string, SchemaVerdict>();

  const knownSchema = (schema: object): KnownSchema => {
    const found = known.get(schema);
    if (found) return found;
    const text = JSON.stringify(schema);
    const bytes = Buffer.byteLength(text);
    const fresh = { text, bytes, inline: inlineSchema(schema, text) };
    known.set(schema, fresh);
    return fresh;
  };

  const maxCpuMs = definitionMs(limits.timeoutMs);
  const judge = async (text: string, share: string): Promise<SchemaVerdict> => {
    const result = await pool.run({ kind: 'schema', schema: text, maxCpuMs }, { run: null, share });
    if ('reason' in result) return notCompiled(result);
    if (verdicts.size >= MAX_VERDICTS) verdicts.delete(verdicts.keys().next().value as string);
    verdicts.set(text, result);
    return result;
  };

  return {
    inThread: pool.run,
    isBarred: pool.isBarred,
    close: pool.close,
    checkSchema: (schema, share) => {
      if (typeof schema !== 'object' || schema === null) return verdictOf(compileJsonSchema(schema));
      const { inline, text, bytes } = knownSchema(schema);
      // Refused by its size alone, so that neither a thread nor the kept verdicts hold it.
      if (bytes > SCHEMA_LIMITS.bytes) return verdictOf(compileJsonSchema(schema));
      return inline ? verdictOf(inline.compiled) : (verdicts.get(text) ?? judge(text, share));
    },
    validate: async (schema, value, owner) => {
      const { inline, text } = knownSchema(schema);
      if (inline && isInlineAnswer(inline, value)) return check(inline.compiled, value);
      return pool.run({ kind: 'answer', schema: text, value }, owner);
    },
    matches: (pattern, text, share) => {
      const compiled = inlinePattern(pattern);
      if (compiled && !compiled.ok) return false;
      if (compiled && compiled.size * text.length <= INLINE.patternWork) return compiled.test(text);
      return pool
        .run({ kind: 'pattern', pattern, text }, { run: null, share })
        .then((result) => ('found' in result ? result.found : null));
    },
  };
}

/** Milliseconds of the processor that a definition or a schema may take, also where an evaluation may take less. */
const definitionMs = (timeoutMs: number): number => Math.max(1000, timeoutMs);

/** Judges the schemas of agents in a thread; like a definition, one is refused for the time of the processor that it takes. */
export function judgeSchemaIn(compute: Pick<Compute, 'inThread'>, timeoutMs: number) {
  const maxCpuMs = definitionMs(timeoutMs);
  return async (schema: object, share: string): Promise<SchemaVerdict> => {
    const task = { kind: 'schema', schema: JSON.stringify(schema), maxCpuMs } as const;
    const verdict = await compute.inThread(task, { run: null, share });
    return 'reason' in verdict ? notCompiled(verdict) : verdict;
  };
}

/** Reads and checks large definitions in a thread; one that takes too much of the processor is refused. */
export function definitionsIn(compute: Pick<Compute, 'inThread'>, timeoutMs: number) {
  const maxCpuMs = definitionMs(timeoutMs);
  return ({ name, work }: Ahead): Promise<Done> =>
    compute.inThread({ kind: 'definition', work, maxCpuMs }, { run: null, share: name });
}

const notCompiled = ({ msg, passing }: ComputeLimit): SchemaVerdict =>
  passing
    ? { ok: false, msg: `JSON Schema was not checked: ${msg}; try again`, passing }
    : { ok: false, msg: `JSON Schema cannot be compiled: ${msg}` };

const verdictOf = (compiled: CompiledJsonSchema): SchemaVerdict => (compiled.ok ? { ok: true } : compiled);

const check = (compiled: CompiledJsonSchema, value: unknown): SchemaResult =>
  compiled.ok ? compiled.validate(value) : { ok: false, errors: [{ loc: [], msg: compiled.msg }] };

export type { Owner } from './fair-queue.ts';
export { INLINE, inlineSchema, isLargeTemplate, sizeOfValues } from './inline.ts';
export type { SchemaVerdict } from '../../language/json-schema.ts';
