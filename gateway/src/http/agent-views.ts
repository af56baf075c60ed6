import type { AgentRecord } from '../agents/agent-record.ts';

/** A row of `GET /agents` (Gateway 4). */
export function agentSummary({ name, version, config, managedBy }: AgentRecord): Record<string, unknown> {
  const { model, model_fallbacks, tools, description, tags } = config;
  return { name, model, model_fallbacks, tools, version, description, tags, managed_by: managedBy };
}

/** The combined view of `GET /agents/{name}` (Design 6). */
export function agentView({ name, version, config, agentYaml, soul, managedBy }: AgentRecord): Record<string, unknown> {
  return { name, version, config, agent_yaml: agentYaml, soul_md: soul, managed_by: managedBy };
}
