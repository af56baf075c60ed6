import type { AgentRecord } from '../agents/agent-record.ts';
import type { DiscoveredTool } from '../runs/tool-offer.ts';

/** A row of `GET /agents` (Gateway 4), with the tools that its servers have now. */
export function agentSummary(
  { name, version, config, managedBy }: AgentRecord,
  discovered: readonly DiscoveredTool[],
): Record<string, unknown> {
  const { model, model_fallbacks, tools, description, tags } = config;
  const summary = { name, model, model_fallbacks, tools, version, description, tags };
  return { ...summary, discovered_tools: discovered, managed_by: managedBy };
}

/** The combined view of `GET /agents/{name}` (Design 6). */
export function agentView({ name, version, config, agentYaml, soul, managedBy }: AgentRecord): Record<string, unknown> {
  return { name, version, config, agent_yaml: agentYaml, soul_md: soul, managed_by: managedBy };
}
