import { type CompiledJsonSchema, compileJsonSchema } from '@signalbox/crds';

type JsonObject = Record<string, unknown>;

/** The schema of an answer: the instruction for the model, and the check. */
export interface AnswerContract {
  schema: JsonObject;
  /** Appended to the system prompt. */
  instruction: string;
  validate: Extract<CompiledJsonSchema, { ok: true }>['validate'];
}
export type ContractResult = { ok: true; contract: AnswerContract | null } | { ok: false; message: string };

/** Merges the schema of a call into the agent's: keys of the call take precedence. */
export function mergeSchemas(agents: JsonObject | undefined, calls: JsonObject | undefined): JsonObject | null {
  if (!agents || !calls) return calls ?? agents ?? null;
  const required = [...listOf(agents['required']), ...listOf(calls['required'])];
  return {
    ...agents,
    ...calls,
    properties: { ...objectOf(agents['properties']), ...objectOf(calls['properties']) },
    ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
  };
}

const MAX_CONTRACTS = 200;

/** Compiles schemas once; the least recently used are forgotten. */
export class AnswerContracts {
  private readonly known = new Map<string, ContractResult>();

  get(schema: JsonObject | null): ContractResult {
    if (schema === null) return { ok: true, contract: null };
    const text = JSON.stringify(schema);
    const found = this.known.get(text) ?? compile(schema, text);
    this.known.delete(text);
    this.known.set(text, found);
    if (this.known.size > MAX_CONTRACTS) this.known.delete(this.known.keys().next().value as string);
    return found;
  }
}

function compile(schema: JsonObject, text: string): ContractResult {
  const compiled = compileJsonSchema(schema);
  if (!compiled.ok) return { ok: false, message: compiled.msg };
  const instruction = `\n\nYour final answer must be one JSON object and nothing else, valid against this JSON Schema:\n${text}`;
  return { ok: true, contract: { schema, instruction, validate: compiled.validate } };
}

function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
