import { createRest } from '@signalbox/crds/process/rest';
import type { AgentRecord } from '../../agents/agent-record.ts';
import type { DiscoveredTool } from '../../runs/discovered-tools.ts';
import type { AgentSummary } from '../schemas/agents.ts';

export interface SummaryDeps {
  toolsOf: (agent: AgentRecord) => Promise<DiscoveredTool[]>;
}

/** Of as many agents as there are, with other work in between. */
export async function summariesOf(agents: readonly AgentRecord[], deps: SummaryDeps): Promise<AgentSummary[]> {
  const rest = createRest();
  const summaries: AgentSummary[] = [];
  for (const agent of agents) {
    await rest();
    summaries.push(await summaryOf(agent, deps));
  }
  return summaries;
}

async function summaryOf(agent: AgentRecord, deps: SummaryDeps): Promise<AgentSummary> {
  const { name, version, config, managedBy } = agent;
  const { model, model_fallbacks, tools, description, tags } = config;
  const summary = { name, model, model_fallbacks, tools, version, description, tags };
  return { ...summary, discovered_tools: await deps.toolsOf(agent), managed_by: managedBy };
}
