import { AppError } from '@signalbox/crds';
import type { ReplayConfig } from '../../config/config.ts';

/** An agent as `replay.safe_agents` names it. */
export interface Identity {
  executor: string;
  agent: string | null;
}

/** Refuses every request while no agent may be replayed (Orchestration 4.6, rule 1). */
export function requireReplay({ safeAgents }: ReplayConfig): void {
  if (safeAgents.length === 0) throw refused('replay is off: replay.safe_agents names no agent');
}

/** Refuses the batch where one of its agents, or the judge, may not be called again. */
export function requireSafe({ safeAgents, judge }: ReplayConfig, asked: readonly Identity[]): void {
  const names = new Set([...asked, ...(judge ? [judge] : [])].map(({ executor, agent }) => `${executor}:${agent}`));
  const unsafe = [...names].filter((name) => !safeAgents.includes(name));
  if (unsafe.length > 0) throw refused(`not in replay.safe_agents: ${unsafe.join(', ')}`, unsafe);
}

const refused = (message: string, agents?: string[]) =>
  new AppError('forbidden', message, agents ? { extra: { agents } } : {});
