import { startOf } from '@signalbox/crds';
import type { AgentBackend, ListedAgent } from '../runs/state/executor.ts';

export interface ListedAgents {
  agents: (Omit<ListedAgent, 'version'> & { executor: AgentBackend['name'] })[];
  /** One line per backend that could not be asked, or that lists too many. */
  errors: Record<string, string>;
}

/** How long a page waits for a backend. */
const LIST_TIMEOUT_MS = 3_000;
/** Agents that are taken from one list. */
const MAX_LISTED = 1_000;

/** The agents of all backends; one that is down contributes an error and no agents (Orchestration 4.3). */
export async function listAgents(backends: readonly AgentBackend[]): Promise<ListedAgents> {
  const answers = await Promise.all(backends.map((backend) => backend.list(AbortSignal.timeout(LIST_TIMEOUT_MS))));
  const listed: ListedAgents = { agents: [], errors: {} };
  for (const [index, answer] of answers.entries()) {
    const executor = (backends[index] as AgentBackend).name;
    if (!answer.ok) {
      listed.errors[executor] = answer.type === 'cancelled' ? 'no answer in time' : answer.message;
      continue;
    }
    const taken = answer.agents.slice(0, MAX_LISTED);
    listed.agents.push(...taken.map(({ version: _, ...agent }) => ({ ...agent, executor })));
    const { length } = answer.agents;
    if (length > MAX_LISTED) listed.errors[executor] = `it lists ${length} agents; the first ${MAX_LISTED} are taken`;
  }
  return listed;
}

/** An evaluation does not wait long for what it can do without. */
const VERSIONS_TIMEOUT_MS = 1_000;
/** As much of a version as an execution keeps. */
const VERSION_CHARS = 100;

/** By executor and agent. */
export type AgentVersions = ReadonlyMap<string, string>;

const keyOf = (executor: string, agent: string) => `${executor}:${agent}`;

/** Which version each backend says its agents have now; none where it says none or is down. */
export async function agentVersions(backends: readonly AgentBackend[]): Promise<AgentVersions> {
  const known = new Map<string, string>();
  const ask = async ({ name, list }: AgentBackend) => {
    const answer = await list(AbortSignal.timeout(VERSIONS_TIMEOUT_MS));
    if (!answer.ok) return;
    for (const { name: agent, version } of answer.agents)
      if (version) known.set(keyOf(name, agent), startOf(version, VERSION_CHARS));
  };
  await Promise.all(backends.map(ask));
  return known;
}

/** The version that an agent has now; null where it is unknown. */
export const versionIn =
  (versions: AgentVersions) =>
  (executor: string, agent: string): string | null =>
    versions.get(keyOf(executor, agent)) ?? null;
