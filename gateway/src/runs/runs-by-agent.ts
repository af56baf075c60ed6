import type { Run } from './run.ts';

export interface AgentRuns {
  /** They hold a slot. */
  active: number;
  /** They wait for a slot, or for a pod of the agent. */
  queued: number;
}

/** The runs of each agent that has any; those that wait for an approval are neither active nor queued. */
export function countByAgent(runs: Iterable<Run>): ReadonlyMap<string, AgentRuns> {
  const counts = new Map<string, AgentRuns>();
  for (const { done, slot, params } of runs) {
    const state = slot?.state();
    if (done || state === undefined || state === 'approval') continue;
    const count = counts.get(params.agent) ?? { active: 0, queued: 0 };
    count[state] += 1;
    counts.set(params.agent, count);
  }
  return counts;
}
