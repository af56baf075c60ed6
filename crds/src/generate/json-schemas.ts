import { z } from 'zod';
import { Agent } from '../kinds/agent.ts';
import { LibraryStep } from '../kinds/library-step.ts';
import { Pipeline } from '../kinds/pipeline.ts';
import type { DefinitionKind } from '../problem.ts';
import { fold } from './fold.ts';

export type Schema = Record<string, unknown>;

/** JSON Schema of each kind as an author writes it: `use:` entries are allowed and what has a default is optional. */
export function writtenSchemas(): Record<DefinitionKind, Schema> {
  return { Pipeline: withUses(jsonSchema(Pipeline)), LibraryStep: jsonSchema(LibraryStep), Agent: jsonSchema(Agent) };
}

/** JSON Schema of an object in a cluster: the definition is its `spec`, whose name is optional, with the instructions of an agent. */
export function objectSchemas(): Record<DefinitionKind, Schema> {
  const { Pipeline: pipeline, LibraryStep: step, Agent: agent } = writtenSchemas();
  const soul = { type: 'string', description: 'instructions for the model' };
  const withSoul = { ...agent, properties: { ...at(agent, 'properties'), soul } };
  return {
    Pipeline: objectOf('Pipeline', pipeline),
    LibraryStep: objectOf('LibraryStep', step),
    Agent: objectOf('Agent', withSoul),
  };
}

const objectOf = (kind: DefinitionKind, spec: Schema): Schema => ({
  $schema: spec['$schema'],
  type: 'object',
  properties: {
    apiVersion: { const: 'signalbox.dev/v1alpha1' },
    kind: { const: kind },
    metadata: { type: 'object', required: ['name'] },
    spec: nameless(spec),
  },
  required: ['apiVersion', 'kind', 'metadata', 'spec'],
});

/** The object has a name of its own. */
function nameless({ $schema: _, ...schema }: Schema): Schema {
  const withoutName = { ...schema };
  if (Array.isArray(schema['required'])) withoutName['required'] = schema['required'].filter((key) => key !== 'name');
  for (const key of ['anyOf', 'oneOf'])
    if (Array.isArray(schema[key])) withoutName[key] = list(schema[key]).map(nameless);
  return withoutName;
}

function jsonSchema(schema: z.ZodType): Schema {
  return z.toJSONSchema(schema, { io: 'input', reused: 'inline' });
}

/** Adds the shape that exists only in files: an entry that takes the keys of a library step. */
function withUses(pipeline: Schema): Schema {
  const entries = at(pipeline, 'properties', 'steps', 'items');
  const [executors, parallel, fanOut] = list(entries['anyOf']);
  const groupSteps = at(parallel ?? {}, 'properties', 'parallel', 'properties', 'steps');
  const item = at(fanOut ?? {}, 'properties', 'fan_out', 'properties');
  const entryUse = useShape(executors ?? {});
  groupSteps['items'] = { anyOf: [groupSteps['items'], useShape(groupSteps['items'] as Schema)] };
  item['step'] = { ...describe(item['step']), anyOf: [item['step'], useShape(item['step'] as Schema)] };
  entries['anyOf'] = [executors, entryUse, parallel, fanOut];
  return pipeline;
}

function describe(schema: unknown): Schema {
  const { description } = schema as Schema;
  return description === undefined ? {} : { description };
}

/** Every key of the executors may be set beside `use:`; none but the name is needed. */
function useShape(executors: Schema): Schema {
  const { properties } = fold(executors) as { properties: Record<string, Schema> };
  const { executor: _decidedByTheLibrary, ...others } = properties;
  const use = {
    type: 'string',
    pattern: '^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$',
    description: 'name of a library step; keys set here win over its keys',
  };
  const required = 'name' in others ? ['name', 'use'] : ['use'];
  return { type: 'object', properties: { ...others, use }, required, additionalProperties: false };
}

export function at(schema: Schema, ...path: string[]): Schema {
  return path.reduce((node, key) => (node[key] ?? {}) as Schema, schema);
}

export function list(value: unknown): Schema[] {
  return Array.isArray(value) ? (value as Schema[]) : [];
}
