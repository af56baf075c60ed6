import { Agent, DefinitionName, ObjectReference, SyncedObject } from '@signalbox/crds';
import { z } from 'zod';
import { component } from './component.ts';
import { ValidationError } from './errors.ts';

component('AgentConfig', Agent);
component('SyncedObject', SyncedObject);

const REFERENCE = { kind: 'Agent' as const, namespace: 'shop', name: 'triage' };
const AGENT_YAML = 'name: triage\nmodel: anthropic/claude-sonnet-5\ntools: [metrics]\n';
const SOUL = 'You find out why an alert fires.\n';
const NOTE = 'Written to the agents directory and live. Nothing was committed to version control.';

const SUMMARY = {
  name: 'triage',
  model: 'anthropic/claude-sonnet-5',
  model_fallbacks: [],
  tools: ['metrics'],
  version: '3f1c9a7e52b0',
  description: 'Finds out why an alert fires',
  tags: [],
  discovered_tools: [{ server: 'metrics', name: 'query', hash: '9b1d0c44e2aa' }],
  managed_by: null,
};

export const AgentName = z.object({ name: z.string() });
export type AgentName = z.infer<typeof AgentName>;

/** Of an agent that is changed: a name that no agent can have is refused before it is looked for (Gateway 7). */
export const ChangedAgentName = z.object({ name: DefinitionName });

export const AgentSummary = component(
  'AgentSummary',
  z.object({
    name: z.string(),
    model: z.string(),
    model_fallbacks: z.array(z.string()),
    tools: z.array(z.string()),
    version: z.string(),
    description: z.string(),
    tags: z.array(z.string()),
    discovered_tools: z
      .array(z.object({ server: z.string(), name: z.string(), hash: z.string() }))
      .describe('the tools that its servers have now'),
    managed_by: ObjectReference.nullable(),
  }),
  SUMMARY,
);
export type AgentSummary = z.infer<typeof AgentSummary>;

export const AgentList = component(
  'AgentList',
  z.object({ agents: z.array(AgentSummary), errors: z.array(ValidationError) }),
  { agents: [SUMMARY], errors: [] },
);

export const ManagedAgents = component(
  'ManagedAgents',
  z.object({ objects: z.array(SyncedObject).nullable().describe('null without a controller') }),
  { objects: null },
);

export const AgentDetail = component(
  'AgentDetail',
  z.object({
    name: z.string(),
    version: z.string(),
    config: Agent,
    agent_yaml: z.string(),
    soul_md: z.string(),
    managed_by: ObjectReference.nullable(),
  }),
  {
    name: 'triage',
    version: '3f1c9a7e52b0',
    config: Agent.parse({ name: 'triage', model: 'anthropic/claude-sonnet-5', tools: ['metrics'] }),
    agent_yaml: AGENT_YAML,
    soul_md: SOUL,
    managed_by: REFERENCE,
  },
);

export const AgentFile = component('AgentFile', z.object({ name: z.string(), content: z.string() }), {
  name: 'triage',
  content: SOUL,
});

export const NewAgent = component(
  'NewAgent',
  z.strictObject({
    name: DefinitionName,
    agent_yaml: z.string(),
    soul_md: z.string(),
    overwrite: z.boolean().default(false),
  }),
  { name: 'triage', agent_yaml: AGENT_YAML, soul_md: SOUL },
);

export const AgentChange = component(
  'AgentChange',
  z.strictObject({ agent_yaml: z.string().optional(), soul_md: z.string().optional() }),
  { soul_md: SOUL },
);

export const AgentWritten = component(
  'AgentWritten',
  z.object({
    agent: z.object({ name: z.string(), agent_yaml: z.string(), soul_md: z.string() }),
    committed: z.literal(false),
    note: z.string(),
  }),
  { agent: { name: 'triage', agent_yaml: AGENT_YAML, soul_md: SOUL }, committed: false, note: NOTE },
);

export const AgentDeleted = component(
  'AgentDeleted',
  z.object({
    deleted: z.string(),
    agent_yaml: z.string(),
    soul_md: z.string(),
    committed: z.literal(false),
    note: z.string(),
  }),
  { deleted: 'triage', agent_yaml: AGENT_YAML, soul_md: SOUL, committed: false, note: 'Removed.' },
);

export const AgentCandidate = component(
  'AgentCandidate',
  z.strictObject({ agent_yaml: z.string(), soul_md: z.string().optional() }),
  { agent_yaml: AGENT_YAML },
);

export const ValidationResult = component(
  'ValidationResult',
  z.object({ valid: z.boolean(), errors: z.array(ValidationError) }),
  { valid: true, errors: [] },
);

export const Reloaded = component(
  'Reloaded',
  z.object({
    status: z.literal('reloaded'),
    agents_loaded: z.int(),
    agents: z.array(AgentSummary),
    errors: z.array(ValidationError),
  }),
  { status: 'reloaded', agents_loaded: 1, agents: [SUMMARY], errors: [] },
);
