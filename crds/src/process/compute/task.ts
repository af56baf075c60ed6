import type { Evaluated } from '../../language/expression.ts';
import type { SchemaResult, SchemaVerdict } from '../../language/json-schema.ts';
import type { Done, Work } from '../../resolve/work.ts';
import type { Rendered } from '../../language/template-model.ts';

export type Values = Readonly<Record<string, unknown>>;

/**
 * What a thread computes; schemas are JSON text, by which the thread keeps what it compiled. With `maxCpuMs` the time of the processor
 * counts, not that of the clock.
 */
export type Task =
  | { kind: 'template'; source: string; sandbox: boolean; values: Values }
  | { kind: 'expression'; source: string; values: Values }
  | { kind: 'schema'; schema: string; maxCpuMs?: number }
  | { kind: 'answer'; schema: string; value: unknown }
  | { kind: 'pattern'; pattern: string; text: string }
  | { kind: 'definition'; work: Work; maxCpuMs: number };

export interface TaskResults {
  template: Rendered;
  expression: Evaluated;
  schema: SchemaVerdict;
  answer: SchemaResult;
  pattern: { ok: true; found: boolean };
  definition: Done;
}
export type ResultOf<T extends Task> = TaskResults[T['kind']];

/** From the thread: `ready` once, then an answer for each task. */
export type ThreadMessage = { ready: true } | { result: TaskResults[Task['kind']] };
