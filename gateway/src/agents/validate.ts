import { Agent, agentVersion, cutShort, parseYaml, plainIssues, serverOf, startOf } from '@signalbox/crds';
import { inlineSchema, type SchemaVerdict } from '@signalbox/crds/process/compute';
import type { z } from 'zod';
import type { AgentRecord, KnownNames, ValidationItem } from './agent-record.ts';
import { unknownServer } from './unknown-name.ts';

/** The pair of files to validate. */
export interface Candidate {
  agentYaml: string;
  soul: string;
  /** The value that `name:` must have; null where any valid name is accepted. */
  expectedName: string | null;
  managedBy: AgentRecord['managedBy'];
}

export type Validated =
  | { ok: true; record: AgentRecord; warnings: ValidationItem[] }
  | { ok: false; errors: ValidationItem[] };

export const MAX_SOUL_CHARS = 512 * 1024;

/** Whether a schema can be compiled. */
export type JudgeSchema = (schema: object, agent: string) => Promise<SchemaVerdict>;

/** All checks of a write, without writing (Gateway 4): syntax, schema, name, models, tool servers, output schema. */
export async function validateAgent(candidate: Candidate, known: KnownNames, judge: JudgeSchema): Promise<Validated> {
  const { agentYaml, soul, expectedName } = candidate;
  const fallbackName = expectedName ?? '';
  if (soul.length > MAX_SOUL_CHARS)
    return refuse(fallbackName, 'soul_md', null, `is longer than ${MAX_SOUL_CHARS} characters`);
  for (const [field, text] of [['agent_yaml', agentYaml] as const, ['soul_md', soul] as const])
    if (!text.isWellFormed())
      return refuse(fallbackName, field, null, 'cannot be written as UTF-8: half of a surrogate pair is missing');
  const yaml = parseYaml(agentYaml);
  if (!yaml.ok) {
    const errors = yaml.problems.map(({ msg, line, col }) =>
      item(fallbackName, 'agent_yaml', null, `line ${line}, column ${col}: ${msg}`),
    );
    return { ok: false, errors };
  }
  const written = yaml.value;
  if (!isObject(written)) return refuse(fallbackName, 'agent_yaml', null, 'must be a map of keys');
  const name = typeof written['name'] === 'string' ? written['name'] : fallbackName;
  const parsed = Agent.safeParse(written);
  if (!parsed.success) return { ok: false, errors: schemaItems(name, parsed.error, written) };
  const config = parsed.data;
  const errors = [
    ...nameItems(config, expectedName),
    ...referenceItems(config, candidate, known),
    ...(await schemaOfAnswer(config, judge)),
  ];
  if (errors.length > 0) return { ok: false, errors };
  const version = agentVersion(written, soul);
  const record = { name: config.name, version, config, agentYaml, soul, managedBy: candidate.managedBy };
  return { ok: true, record, warnings: warningsOf(config, known) };
}

/** Problems that do not keep an agent from being loaded. */
export function warningsOf(config: Agent, known: KnownNames): ValidationItem[] {
  const { max_iterations: turns = 0 } = config.limits;
  const message = `the gateway's limits.max_iterations, ${known.maxIterations}, is lower and applies`;
  const capped = warning(config.name, 'limits.max_iterations', turns, message);
  return [...keylessModels(config, known), ...(turns > known.maxIterations ? [capped] : [])];
}

/** Models of providers without a key: the agent loads, and calls of these models fail. */
export function keylessModels(config: Agent, known: Pick<KnownNames, 'keylessProvider'>): ValidationItem[] {
  return modelsOf(config).flatMap(([field, model]) => {
    const provider = known.keylessProvider(model);
    const message = `provider "${provider}" has no key, so its models cannot be used`;
    return provider === null ? [] : [warning(config.name, field, model, message)];
  });
}

const modelsOf = ({ model, model_fallbacks }: Agent): [string, string][] => [
  ['model', model],
  ...model_fallbacks.map((name): [string, string] => ['model_fallbacks', name]),
];

function nameItems(config: Agent, expected: string | null): ValidationItem[] {
  if (expected === null || config.name === expected) return [];
  return [
    item(
      expected,
      'name',
      config.name,
      `name in the YAML is "${config.name}", expected "${expected}"; a rename is a delete plus a create`,
    ),
  ];
}

function referenceItems(config: Agent, candidate: Candidate, known: KnownNames): ValidationItem[] {
  const mode = known.modeOf(config, candidate.managedBy !== null);
  const badModels = modelsOf(config).flatMap(([field, model]) => {
    const problem = known.modelProblem(model);
    return problem === null ? [] : [item(config.name, field, model, problem)];
  });
  const patterns: [string, string][] = [
    ...config.tools.map((pattern): [string, string] => ['tools', pattern]),
    ...config.require_approval.map((pattern): [string, string] => ['require_approval', pattern]),
  ];
  const badTools = patterns.flatMap(([field, pattern]) => {
    const kind = known.servers.get(serverOf(pattern));
    if (kind === undefined)
      return [item(config.name, field, pattern, unknownServer(serverOf(pattern), [...known.servers.keys()]))];
    if (kind === 'image' && mode === 'process')
      return [item(config.name, field, pattern, `"${serverOf(pattern)}" runs only in the pods of agents`)];
    return [];
  });
  return [...badModels, ...badTools];
}

async function schemaOfAnswer({ name, output_schema: schema }: Agent, judge: JudgeSchema): Promise<ValidationItem[]> {
  if (!schema) return [];
  const inline = inlineSchema(schema, JSON.stringify(schema));
  const verdict = inline ? inline.compiled : await judge(schema, name);
  return verdict.ok ? [] : [item(name, 'output_schema', null, verdict.msg)];
}

/** Problems of one agent that are listed; a text within its bounds may have thousands. */
const MOST_LISTED = 100;

function schemaItems(agent: string, { issues }: z.ZodError, written: Record<string, unknown>): ValidationItem[] {
  const all = plainIssues(issues);
  const items = all.slice(0, MOST_LISTED).map(({ path, msg, unknownKey }) => {
    const field = path.filter((part) => typeof part === 'string').join('.') || 'agent_yaml';
    return item(agent, field, unknownKey ? null : scalarAt(written, path), msg);
  });
  const left = all.length - MOST_LISTED;
  return left > 0 ? [...items, item(agent, 'agent_yaml', null, `and ${left} more problems`)] : items;
}

/** The offending value, where it is a scalar; cut to 200 characters. */
function scalarAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return null;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  if (typeof at === 'string') return startOf(at, 200);
  return typeof at === 'number' || typeof at === 'boolean' ? at : null;
}

function refuse(agent: string, field: string, value: unknown, message: string): Validated {
  return { ok: false, errors: [item(agent, field, value, message)] };
}

/** Characters of a name, a field and a message: an author chooses them as long as the text. */
const MOST_CHARS = 500;

function item(agent: string, field: string, value: unknown, message: string): ValidationItem {
  const cut = (text: string) => cutShort(text, MOST_CHARS);
  return { agent: cut(agent), field: cut(field), value, message: cut(message), severity: 'error' };
}

function warning(agent: string, field: string, value: unknown, message: string): ValidationItem {
  return { ...item(agent, field, value, message), severity: 'warning' };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
