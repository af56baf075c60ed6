import { AppError, type SyncedObject } from '@signalbox/crds';
import type { z } from 'zod';
import type { AgentPair } from '../../agents/agent-files.ts';
import type { AgentChanged, AgentRecord, ValidationItem } from '../../agents/agent-record.ts';
import type { LoadReport, RemoveResult, WriteResult } from '../../agents/registry.ts';
import { unknownAgent } from '../../agents/unknown-name.ts';
import type { Validated } from '../../agents/validate.ts';
import type { App } from '../app.ts';
import {
  AgentCandidate,
  AgentChange,
  AgentDeleted,
  AgentDetail,
  AgentFile,
  AgentList,
  AgentName,
  AgentWritten,
  ChangedAgentName,
  ManagedAgents,
  NewAgent,
  Reloaded,
  ValidationResult,
} from '../schemas/agents.ts';
import { summariesOf, type SummaryDeps } from './agent-summaries.ts';
import { ErrorAnswer } from '../schemas/errors.ts';

/** What these routes need of the registry. */
export interface AgentRoutesDeps extends SummaryDeps {
  list: () => AgentRecord[];
  /** Of agents that were left out, or kept in their last good edition, and warnings about the others. */
  errors: () => readonly ValidationItem[];
  get: (name: string) => AgentRecord | undefined;
  create: (name: string, pair: AgentPair, overwrite: boolean) => Promise<WriteResult>;
  update: (name: string, change: Partial<AgentPair>) => Promise<WriteResult>;
  remove: (name: string) => Promise<RemoveResult>;
  validate: (pair: AgentPair) => Promise<Validated>;
  reload: () => Promise<LoadReport>;
  /** Puts a change that was made on record. */
  record: (change: AgentChanged) => void;
  /** Null where no controller manages agents. */
  managed: () => SyncedObject[] | null;
}

const NOTE = 'Written to the agents directory and live. Nothing was committed to version control.';
const UNCHANGED_NOTE = 'Nothing changed: the files are as they were.';
const DELETED_NOTE = 'Removed from the agents directory. Nothing was committed to version control.';

/** Registry routes (Gateway 4). */
export const agentRoutes = (deps: AgentRoutesDeps) => (app: App) => {
  addReads(app, deps);
  addWrites(app, deps);
};

function addReads(app: App, deps: AgentRoutesDeps): void {
  const READ = { method: 'GET', config: { scope: 'invoke' } } as const;
  const found = ({ params }: { params: AgentName }) => agentOr404(deps, params.name);

  app.route({
    ...READ,
    url: '/agents',
    schema: {
      operationId: 'listAgents',
      tags: ['agents'],
      summary: 'All agents, the errors of those that could not be loaded, and warnings about the others',
      response: { 200: AgentList },
    },
    handler: async () => ({ agents: await summariesOf(deps.list(), deps), errors: [...deps.errors()] }),
  });

  app.route({
    ...READ,
    url: '/managed-agents',
    schema: {
      operationId: 'listManagedAgents',
      tags: ['agents'],
      summary: 'State of the custom resources that agents come from, null without a controller',
      response: { 200: ManagedAgents },
    },
    handler: () => ({ objects: deps.managed() }),
  });

  app.route({
    ...READ,
    url: '/agents/:name',
    schema: {
      operationId: 'getAgent',
      tags: ['agents'],
      summary: 'One agent: configuration, both texts, version',
      params: AgentName,
      response: { 200: AgentDetail, 404: ErrorAnswer },
    },
    handler: (request) => {
      const { name, version, config, agentYaml, soul, managedBy } = found(request);
      return { name, version, config, agent_yaml: agentYaml, soul_md: soul, managed_by: managedBy };
    },
  });

  app.route({
    ...READ,
    url: '/agents/:name/soul',
    schema: {
      operationId: 'getAgentSoul',
      tags: ['agents'],
      summary: 'The prompt file',
      params: AgentName,
      response: { 200: AgentFile, 404: ErrorAnswer },
    },
    handler: (request) => ({ name: request.params.name, content: found(request).soul }),
  });

  app.route({
    ...READ,
    url: '/agents/:name/agent',
    schema: {
      operationId: 'getAgentConfig',
      tags: ['agents'],
      summary: 'The configuration file',
      params: AgentName,
      response: { 200: AgentFile, 404: ErrorAnswer },
    },
    handler: (request) => ({ name: request.params.name, content: found(request).agentYaml }),
  });
}

function addWrites(app: App, deps: AgentRoutesDeps): void {
  const WRITE = { config: { scope: 'admin' } } as const;

  app.route({
    ...WRITE,
    method: 'POST',
    url: '/agents',
    schema: {
      operationId: 'createAgent',
      tags: ['agents'],
      summary: 'Create an agent, or replace it with overwrite',
      body: NewAgent,
      response: { 200: AgentWritten, 409: ErrorAnswer },
    },
    handler: async ({ body, ip }) => {
      const { name, overwrite } = body;
      const before = versionOf(deps, name);
      const result = await deps.create(name, { agentYaml: body.agent_yaml, soul: body.soul_md }, overwrite);
      return written(deps, result, {
        action: before === null ? 'create' : 'overwrite',
        agent: name,
        before,
        address: ip,
      });
    },
  });

  app.route({
    ...WRITE,
    method: 'PUT',
    url: '/agents/:name',
    schema: {
      operationId: 'updateAgent',
      tags: ['agents'],
      summary: 'Change one file of an agent, or both',
      params: ChangedAgentName,
      body: AgentChange,
      response: { 200: AgentWritten, 404: ErrorAnswer, 409: ErrorAnswer },
    },
    handler: async ({ params: { name }, body, ip }) => {
      const before = versionOf(deps, name);
      const result = await deps.update(name, { agentYaml: body.agent_yaml, soul: body.soul_md });
      return written(deps, result, { action: 'update', agent: name, before, address: ip });
    },
  });

  app.route({
    ...WRITE,
    method: 'DELETE',
    url: '/agents/:name',
    schema: {
      operationId: 'deleteAgent',
      tags: ['agents'],
      summary: 'Delete an agent; the answer holds the content of its files',
      params: ChangedAgentName,
      response: { 200: AgentDeleted, 404: ErrorAnswer, 409: ErrorAnswer },
    },
    handler: async ({ params: { name }, ip }) => {
      const before = versionOf(deps, name);
      const removed = await deps.remove(name);
      if (!removed.ok) throw writeError(name, removed, deps);
      deps.record({ action: 'delete', agent: name, version_before: before, version: null, address: ip });
      const { agentYaml, soul } = removed.pair;
      return { deleted: name, agent_yaml: agentYaml, soul_md: soul, committed: false as const, note: DELETED_NOTE };
    },
  });

  app.route({
    ...WRITE,
    method: 'POST',
    url: '/agents/validate',
    schema: {
      operationId: 'validateAgent',
      tags: ['agents'],
      summary: 'The checks of a write, without writing',
      body: AgentCandidate,
      response: { 200: ValidationResult },
    },
    handler: async ({ body }) => {
      const validated = await deps.validate({ agentYaml: body.agent_yaml, soul: body.soul_md ?? '' });
      return { valid: validated.ok, errors: validated.ok ? validated.warnings : validated.errors };
    },
  });

  app.route({
    method: 'POST',
    url: '/reload',
    config: { scope: 'reload' },
    schema: {
      operationId: 'reloadAgents',
      tags: ['agents'],
      summary: 'Read all agents from disk again',
      response: { 200: Reloaded },
    },
    handler: async () => {
      const { agents, errors } = await deps.reload();
      const summaries = await summariesOf(agents, deps);
      return { status: 'reloaded' as const, agents_loaded: agents.length, agents: summaries, errors };
    },
  });
}

function agentOr404(deps: AgentRoutesDeps, name: string): AgentRecord {
  const agent = deps.get(name);
  if (!agent) throw notFound(deps, name);
  return agent;
}

function notFound(deps: AgentRoutesDeps, name: string): AppError {
  const names = deps.list().map((agent) => agent.name);
  return new AppError('not_found', unknownAgent(name, names));
}

const versionOf = (deps: AgentRoutesDeps, name: string): string | null => deps.get(name)?.version ?? null;

type Change = Pick<AgentChanged, 'action' | 'agent' | 'address'> & { before: string | null };

function written(
  deps: AgentRoutesDeps,
  result: WriteResult,
  { before, ...change }: Change,
): z.infer<typeof AgentWritten> {
  const { agent: name } = change;
  if (!result.ok) throw writeError(name, result, deps);
  const { record, changed, warnings } = result;
  if (changed) deps.record({ ...change, version_before: before, version: record.version });
  const { agentYaml, soul } = record;
  const note = [changed ? NOTE : UNCHANGED_NOTE, ...warnings.map(({ field, message }) => `${field}: ${message}.`)];
  return { agent: { name, agent_yaml: agentYaml, soul_md: soul }, committed: false, note: note.join(' ') };
}

/** Why a write did not happen, in the words of the API (Gateway 7). */
function writeError(name: string, failure: Exclude<WriteResult, { ok: true }>, deps: AgentRoutesDeps): AppError {
  switch (failure.reason) {
    case 'invalid':
      return new AppError('validation', firstOf(failure.errors), { extra: { errors: failure.errors } });
    case 'exists':
      return new AppError('collision', `agent "${name}" exists; set overwrite: true to replace it`);
    case 'missing':
      return notFound(deps, name);
    case 'managed': {
      const { kind, namespace, name: object } = failure.managedBy;
      return new AppError(
        'collision',
        `agent "${name}" is managed by ${kind} ${namespace}/${object}; change it there`,
        {
          extra: { managed_by: failure.managedBy },
        },
      );
    }
    default:
      return failure satisfies never;
  }
}

function firstOf(errors: readonly ValidationItem[]): string {
  const first = errors[0];
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return first ? `${first.field}: ${first.message}${more}` : 'the agent is not valid';
}
