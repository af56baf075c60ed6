import { AppError, DefinitionName, SyncedObject } from '@signalbox/crds';
import { z } from 'zod';
import type { AgentPair } from '../../agents/agent-files.ts';
import type { AgentRecord, ValidationItem } from '../../agents/agent-record.ts';
import type { LoadReport, WriteResult } from '../../agents/registry.ts';
import type { Validated } from '../../agents/validate.ts';
import type { DiscoveredTool } from '../../runs/tool-offer.ts';
import { agentSummary, agentView } from '../agent-views.ts';
import { AgentDetail, AgentSummaryView, ValidationItemView } from '../schemas.ts';
import { type Route, route } from '../route.ts';

/** What these routes need of the registry. */
export interface AgentRoutesDeps {
  list: () => AgentRecord[];
  /** Of agents that were left out, or kept in their last good edition, and warnings about the others. */
  errors: () => readonly ValidationItem[];
  get: (name: string) => AgentRecord | undefined;
  create: (name: string, pair: AgentPair, overwrite: boolean) => WriteResult;
  update: (name: string, change: Partial<AgentPair>) => WriteResult;
  remove: (name: string) => { ok: true; pair: AgentPair } | Exclude<WriteResult, { ok: true }>;
  validate: (pair: AgentPair) => Validated;
  reload: () => LoadReport;
  toolsOf: (agent: AgentRecord) => DiscoveredTool[];
  /** Null where no controller manages agents. */
  managed: () => SyncedObject[] | null;
}

const Written = z.object({
  agent: z.object({ name: z.string(), agent_yaml: z.string(), soul_md: z.string() }),
  committed: z.literal(false),
  note: z.string(),
});
const FileView = z.object({ name: z.string(), content: z.string() });
const NOTE = 'Written to the agents directory and live. Nothing was committed to version control.';
const UNCHANGED_NOTE = 'Nothing changed: the files are as they were.';
const DELETED_NOTE = 'Removed from the agents directory. Nothing was committed to version control.';

/** Registry routes (Gateway 4). */
export function agentRoutes(deps: AgentRoutesDeps): Route[] {
  return [...readRoutes(deps), ...writeRoutes(deps)];
}

function readRoutes(deps: AgentRoutesDeps): Route[] {
  const found = ({ params }: { params: Record<string, string> }) => agentOr404(deps, params['name'] ?? '');
  return [
    route({
      method: 'GET',
      path: '/agents',
      scope: 'invoke',
      summary: 'All agents, what is wrong with those that could not be loaded, and warnings about the others',
      response: z.object({ agents: z.array(AgentSummaryView), errors: z.array(ValidationItemView) }),
      handle: () => ({
        json: {
          agents: deps.list().map((agent) => agentSummary(agent, deps.toolsOf(agent))),
          errors: [...deps.errors()],
        },
      }),
    }),
    route({
      method: 'GET',
      path: '/managed-agents',
      scope: 'invoke',
      summary: 'State of the objects that agents come from, null without a controller',
      response: z.object({ objects: z.array(SyncedObject).nullable() }),
      handle: () => ({ json: { objects: deps.managed() } }),
    }),
    route({
      method: 'GET',
      path: '/agents/{name}',
      scope: 'invoke',
      summary: 'One agent: configuration, both texts, version',
      response: AgentDetail,
      handle: (request) => ({ json: agentView(found(request)) }),
    }),
    route({
      method: 'GET',
      path: '/agents/{name}/soul',
      scope: 'invoke',
      summary: 'The prompt file',
      response: FileView,
      handle: (request) => fileAnswer(found(request), 'soul'),
    }),
    route({
      method: 'GET',
      path: '/agents/{name}/agent',
      scope: 'invoke',
      summary: 'The configuration file',
      response: FileView,
      handle: (request) => fileAnswer(found(request), 'agentYaml'),
    }),
  ];
}

function writeRoutes(deps: AgentRoutesDeps): Route[] {
  return [
    route({
      method: 'POST',
      path: '/agents',
      scope: 'admin',
      summary: 'Create an agent, or replace it with overwrite',
      body: z.strictObject({
        name: DefinitionName,
        agent_yaml: z.string(),
        soul_md: z.string(),
        overwrite: z.boolean().default(false),
      }),
      response: Written,
      handle: ({ body }) =>
        written(body.name, deps.create(body.name, { agentYaml: body.agent_yaml, soul: body.soul_md }, body.overwrite)),
    }),
    route({
      method: 'PUT',
      path: '/agents/{name}',
      scope: 'admin',
      summary: 'Change one file of an agent, or both',
      body: z.strictObject({ agent_yaml: z.string().optional(), soul_md: z.string().optional() }),
      response: Written,
      handle: ({ params, body }) => {
        const name = params['name'] ?? '';
        return written(name, deps.update(name, { agentYaml: body.agent_yaml, soul: body.soul_md }));
      },
    }),
    route({
      method: 'DELETE',
      path: '/agents/{name}',
      scope: 'admin',
      summary: 'Delete an agent; the answer holds what its files said',
      response: z.object({
        deleted: z.string(),
        agent_yaml: z.string(),
        soul_md: z.string(),
        committed: z.literal(false),
        note: z.string(),
      }),
      handle: ({ params }) => {
        const name = params['name'] ?? '';
        const removed = deps.remove(name);
        if (!removed.ok) throw writeError(name, removed);
        const { agentYaml, soul } = removed.pair;
        return { json: { deleted: name, agent_yaml: agentYaml, soul_md: soul, committed: false, note: DELETED_NOTE } };
      },
    }),
    route({
      method: 'POST',
      path: '/agents/validate',
      scope: 'admin',
      summary: 'The checks of a write, without one',
      body: z.strictObject({ agent_yaml: z.string(), soul_md: z.string().optional() }),
      response: z.object({ valid: z.boolean(), errors: z.array(ValidationItemView) }),
      handle: ({ body }) => {
        const validated = deps.validate({ agentYaml: body.agent_yaml, soul: body.soul_md ?? '' });
        return { json: { valid: validated.ok, errors: validated.ok ? validated.warnings : validated.errors } };
      },
    }),
    route({
      method: 'POST',
      path: '/reload',
      scope: 'admin',
      summary: 'Read all agents from disk again',
      response: z.object({
        status: z.literal('reloaded'),
        agents_loaded: z.int(),
        agents: z.array(AgentSummaryView),
        errors: z.array(ValidationItemView),
      }),
      handle: () => {
        const { agents, errors } = deps.reload();
        return {
          json: {
            status: 'reloaded',
            agents_loaded: agents.length,
            agents: agents.map((agent) => agentSummary(agent, deps.toolsOf(agent))),
            errors,
          },
        };
      },
    }),
  ];
}

function agentOr404(deps: AgentRoutesDeps, name: string): AgentRecord {
  const agent = deps.get(name);
  if (!agent) throw new AppError('not_found', `there is no agent "${name.slice(0, 64)}"`);
  return agent;
}

function fileAnswer(agent: AgentRecord, file: 'soul' | 'agentYaml'): { json: unknown } {
  return { json: { name: agent.name, content: agent[file] } };
}

function written(name: string, result: WriteResult): { json: unknown } {
  if (!result.ok) throw writeError(name, result);
  const { record, changed, warnings } = result;
  const { agentYaml, soul } = record;
  const note = [changed ? NOTE : UNCHANGED_NOTE, ...warnings.map(({ field, message }) => `${field}: ${message}.`)];
  return { json: { agent: { name, agent_yaml: agentYaml, soul_md: soul }, committed: false, note: note.join(' ') } };
}

/** Why a write did not happen, in the words of the API (Gateway 7). */
function writeError(name: string, failure: Exclude<WriteResult, { ok: true }>): AppError {
  switch (failure.reason) {
    case 'invalid':
      return new AppError('validation', summaryOf(failure.errors), { extra: { errors: failure.errors } });
    case 'exists':
      return new AppError('collision', `agent "${name}" exists; say overwrite: true to replace it`);
    case 'missing':
      return new AppError('not_found', `there is no agent "${name.slice(0, 64)}"`);
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

function summaryOf(errors: readonly ValidationItem[]): string {
  const first = errors[0];
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return first ? `${first.field}: ${first.message}${more}` : 'the agent is not valid';
}
