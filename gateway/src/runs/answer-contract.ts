import type { ComputeLimit, SchemaResult } from '@signalbox/crds';
import type { Compute, Owner, SchemaVerdict } from '@signalbox/crds/process/compute';

type JsonObject = Record<string, unknown>;

/** The schema of an answer: the instruction for the model, and the check. */
export interface AnswerContract {
  schema: JsonObject;
  /** Appended to the system prompt. */
  instruction: string;
  validate: (value: unknown, owner: Owner) => Promise<SchemaResult | ComputeLimit>;
}
export type ContractResult =
  | { ok: true; contract: AnswerContract | null }
  | { ok: false; message: string; passing: boolean };

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
/** Of the text of a schema; a longer one is refused, which is soon said again. */
const MAX_KEPT_CHARS = 64 * 1024;

type Computing = Pick<Compute, 'checkSchema' | 'validate'>;

/** Compiles schemas once; the least recently used are forgotten. */
export class AnswerContracts {
  private readonly known = new Map<string, ContractResult>();
  private readonly compute: Computing;

  constructor(compute: Computing) {
    this.compute = compute;
  }

  /** At once where the schema is small or known. */
  get(schema: JsonObject | null, share: string): ContractResult | Promise<ContractResult> {
    if (schema === null) return { ok: true, contract: null };
    const text = JSON.stringify(schema);
    const found = this.known.get(text);
    if (found) return this.keep(text, found);
    const checked = this.compute.checkSchema(schema, share);
    const keep = (verdict: SchemaVerdict) => this.keep(text, this.contractOf(schema, text, verdict));
    return checked instanceof Promise ? checked.then(keep) : keep(checked);
  }

  private keep(text: string, found: ContractResult): ContractResult {
    if (text.length > MAX_KEPT_CHARS || (!found.ok && found.passing)) return found;
    this.known.delete(text);
    this.known.set(text, found);
    if (this.known.size > MAX_CONTRACTS) this.known.delete(this.known.keys().next().value as string);
    return found;
  }

  private contractOf(schema: JsonObject, text: string, verdict: SchemaVerdict): ContractResult {
    if (!verdict.ok) return { ok: false, message: verdict.msg, passing: verdict.passing === true };
    const instruction = `\n\nYour final answer must be one JSON object and nothing else, valid against this JSON Schema:\n${text}`;
    const validate: AnswerContract['validate'] = (value, owner) => this.compute.validate(schema, value, owner);
    return { ok: true, contract: { schema, instruction, validate } };
  }
}

function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
