import type { AgentBackend, ListedAgent } from '../runs/executor.ts';

export interface ListedAgents {
  agents: (ListedAgent & { executor: AgentBackend['name'] })[];
  /** One line per backend that could not be asked. */
  errors: Record<string, string>;
}

/** How long a page waits for a backend. */
const LIST_TIMEOUT_MS = 3_000;

/** The agents of all backends; one that is down contributes an error and no agents (Orchestration 4.3). */
export async function listAgents(backends: readonly AgentBackend[]): Promise<ListedAgents> {
  const answers = await Promise.all(backends.map((backend) => backend.list(AbortSignal.timeout(LIST_TIMEOUT_MS))));
  const listed: ListedAgents = { agents: [], errors: {} };
  for (const [index, answer] of answers.entries()) {
    const executor = (backends[index] as AgentBackend).name;
    if (answer.ok) listed.agents.push(...answer.agents.map((agent) => ({ ...agent, executor })));
    else listed.errors[executor] = answer.type === 'cancelled' ? 'no answer in time' : answer.message;
  }
  return listed;
}
