import { parentPort } from 'node:worker_threads';
import { tooMuchProcessor } from '../../language/compute-limit.ts';
import { compileExpression, type Evaluated } from '../../language/expression.ts';
import { compileJsonSchema, type SchemaResult } from '../../language/json-schema.ts';
import { compileRegex } from '../../language/regex.ts';
import { compileTemplate } from '../../language/template.ts';
import type { Rendered } from '../../language/template-model.ts';
import type { Done, Work } from '../../resolve/work.ts';
import type { Task, TaskResults, ThreadMessage, Values } from './task.ts';

/** The other side of `worker-pool.ts`: one task after the other; what takes too long ends with the thread. */

/** Compiled schemas kept, each up to some megabytes. */
const MAX_KEPT = 8;
const schemas = new Map<string, ReturnType<typeof compileJsonSchema>>();

function compiledSchema(text: string): ReturnType<typeof compileJsonSchema> {
  const compiled = schemas.get(text) ?? compileJsonSchema(JSON.parse(text));
  schemas.delete(text);
  schemas.set(text, compiled);
  if (schemas.size > MAX_KEPT) schemas.delete(schemas.keys().next().value as string);
  return compiled;
}

function render(source: string, sandbox: boolean, values: Values): Rendered {
  const compiled = compileTemplate(source, { sandbox });
  return compiled.ok ? compiled.template.render(values) : { ok: false, reason: 'failed', msg: compiled.msg };
}

function evaluate(source: string, values: Values): Evaluated {
  const compiled = compileExpression(source);
  return compiled.ok ? compiled.expression.evaluate(values) : { ok: false, reason: 'type', msg: compiled.msg };
}

function validate(schema: string, value: unknown): SchemaResult {
  const compiled = compiledSchema(schema);
  if (!compiled.ok) return { ok: false, errors: [{ loc: [], msg: compiled.msg }] };
  const result = compiled.validate(value);
  // What each reference of it is compiled to keeps the errors of the last value.
  if (!result.ok) schemas.delete(schema);
  return result;
}

function judge(schema: string): TaskResults['schema'] {
  const compiled = compiledSchema(schema);
  return compiled.ok ? { ok: true } : compiled;
}

function find(pattern: string, text: string): TaskResults['pattern'] {
  const compiled = compileRegex(pattern);
  return { ok: true, found: compiled.ok && compiled.test(text) };
}

/** What reads and checks definitions is loaded with the first large one. */
async function readDefinition(work: Work, maxCpuMs: number): Promise<Done> {
  const { doWork } = await import('../../resolve/work.ts');
  const before = process.threadCpuUsage();
  const worked = doWork(work);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000 <= maxCpuMs ? { ok: true, worked } : tooMuchProcessor(maxCpuMs);
}

function resultOf(task: Task): TaskResults[Task['kind']] | Promise<Done> {
  switch (task.kind) {
    case 'template':
      return render(task.source, task.sandbox, task.values);
    case 'expression':
      return evaluate(task.source, task.values);
    case 'schema':
      return judge(task.schema);
    case 'answer':
      return validate(task.schema, task.value);
    case 'pattern':
      return find(task.pattern, task.text);
    case 'definition':
      return readDefinition(task.work, task.maxCpuMs);
    default:
      return task satisfies never;
  }
}

const send = (message: ThreadMessage) => parentPort?.postMessage(message, []);
const answer = async (task: Task) => send({ result: await resultOf(task) });
parentPort?.on('message', (task: Task) => void answer(task));
send({ ready: true });
