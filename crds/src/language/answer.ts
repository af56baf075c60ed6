import { nestsDeeper } from '../json-depth.ts';
import type { ComputeLimit } from './compute-limit.ts';
import type { SchemaError, SchemaResult } from './json-schema.ts';
import { measureSchema } from './json-schema-size.ts';

/** The parsed answer of an agent: the named keys, and every other key under `output`. */
export interface AgentAnswer {
  confidence: number;
  summary: string;
  next_step_context?: string;
  proceed: boolean;
  proceed_reason?: string;
  reasoning?: string;
  artifacts: Record<string, string>;
  output: Record<string, unknown>;
}

export type ParsedAnswer = { ok: true; answer: AgentAnswer } | { ok: false; errors: SchemaError[] } | ComputeLimit;

/** Checks a value against a JSON Schema within a bounded time. */
export type Validate = (schema: object, value: unknown) => Promise<SchemaResult | ComputeLimit>;

const CONTRACT = {
  confidence: { type: 'number', minimum: 0, maximum: 1, description: 'How sure you are of this answer, from 0 to 1' },
  summary: { type: 'string', description: 'The finding in one or two sentences' },
  next_step_context: { type: 'string', description: 'What the next step needs to know' },
  proceed: { type: 'boolean', description: 'false ends the run here' },
  proceed_reason: { type: 'string', description: 'Why the run should end here' },
  reasoning: { type: 'string', description: 'How you came to the answer' },
  artifacts: { type: 'object', additionalProperties: { type: 'string' }, description: 'Files: name to text' },
} as const;
const CONTRACT_KEYS = new Set<string>(Object.keys(CONTRACT));
const REQUIRED = ['confidence', 'summary'];

/**
 * The JSON Schema an agent's whole answer must meet: the contract merged with the step's `output_schema`, whose
 * properties stand beside the contract's (a contract key cannot be redefined).
 */
export function answerSchema(outputSchema?: unknown): Record<string, unknown> {
  const own = isObject(outputSchema) ? outputSchema : {};
  const properties = isObject(own['properties']) ? own['properties'] : {};
  const required = Array.isArray(own['required']) ? own['required'].filter((key) => typeof key === 'string') : [];
  return {
    ...own,
    type: 'object',
    properties: { ...properties, ...CONTRACT },
    required: [...new Set([...REQUIRED, ...required])],
  };
}

/** What is asked for and checked is the merged schema, so that its size counts. */
export function checkAnswerSchema(outputSchema: unknown): { ok: true } | { ok: false; msg: string } {
  const measured = measureSchema(answerSchema(outputSchema));
  return measured.ok ? measured : { ok: false, msg: `with the keys of every answer, JSON Schema ${measured.msg}` };
}

/** A cache: what checks schemas knows them by identity, and a definition's schema lives as long as its definition. */
const memo = new WeakMap<object, Record<string, unknown>>();
const NO_SCHEMA = {};

/** `answerSchema`, the same object for the same schema. */
function sameAnswerSchema(outputSchema: unknown): Record<string, unknown> {
  const key = isObject(outputSchema) ? outputSchema : NO_SCHEMA;
  const merged = memo.get(key) ?? answerSchema(key);
  memo.set(key, merged);
  return merged;
}

/** Checks an agent's answer against the contract and the step's `output_schema`. */
export async function parseAnswer(value: unknown, outputSchema: unknown, validate: Validate): Promise<ParsedAnswer> {
  if (!isObject(value)) return { ok: false, errors: [{ loc: [], msg: 'must be a JSON object' }] };
  const checked = await validate(sameAnswerSchema(outputSchema), value);
  if (!checked.ok) return checked;
  const named = value as Partial<AgentAnswer>;
  return {
    ok: true,
    answer: {
      confidence: named.confidence as number,
      summary: named.summary as string,
      next_step_context: named.next_step_context,
      proceed: named.proceed ?? true,
      proceed_reason: named.proceed_reason,
      reasoning: named.reasoning,
      artifacts: named.artifacts ?? {},
      output: Object.fromEntries(Object.entries(value).filter(([key]) => !CONTRACT_KEYS.has(key))),
    },
  };
}

/** Characters of a text in which an object is looked for; a larger answer is not checked. */
const MAX_TEXT_CHARS = 2 * 1024 * 1024;

/** Fences, and beginnings of an object, that are tried. */
const MAX_STARTS = 50;

/** The JSON object in a model's text: bare, in one of the first fences with one, or the first balanced one. `undefined` when there is none. */
export function extractJson(text: string): unknown {
  if (text.length > MAX_TEXT_CHARS) return undefined;
  const bare = parseObject(text.trim());
  if (bare !== undefined) return bare;
  const fences = text.matchAll(/```[a-zA-Z]*[ \t]*\r?\n\s*(\{[\s\S]*?)```/g).take(MAX_STARTS);
  for (const [, fenced = ''] of fences) {
    const found = parseObject(fenced.trim());
    if (found !== undefined) return found;
  }
  return firstBalanced(text);
}

/** Characters that all tries look at together: each object that a text begins may reach to its end. */
const MAX_LOOKED_AT = 4 * 1024 * 1024;
/** Levels of an answer. */
const MAX_DEPTH = 100;

function firstBalanced(text: string): unknown {
  const starts = Math.min(MAX_STARTS, Math.ceil(MAX_LOOKED_AT / text.length));
  let start = text.indexOf('{');
  for (let tries = 0; start >= 0 && tries < starts; tries++) {
    const end = balancedEnd(text, start);
    const found = end === -1 ? undefined : parseObject(text.slice(start, end));
    if (found !== undefined) return found;
    start = text.indexOf('{', start + 1);
  }
  return undefined;
}

/** Offset after the brace that closes the one at `start`, or -1. */
function balancedEnd(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (quoted && char === '\\') at++;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && char === '{') depth++;
    else if (!quoted && char === '}' && --depth === 0) return at + 1;
  }
  return -1;
}

function parseObject(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && !nestsDeeper(value, MAX_DEPTH) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
