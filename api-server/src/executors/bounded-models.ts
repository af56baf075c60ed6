import { LRUCache } from 'lru-cache';

/** Of one agent, with their providers. */
export const MAX_MODELS = 100;
/** Agents whose models are remembered. */
const MAX_AGENTS = 500;
const OTHER = { provider: 'other', model: 'other' };

interface Named {
  provider: string | null;
  model: string | null;
}

/**
 * Backends name models, and statistics and metrics keep each name: after so many different ones of an agent, further ones are `other`.
 * Each agent has its own, so that none takes the names of another.
 */
export function boundedModels(): <T extends Named>(agent: string, said: T) => T {
  const byAgent = new LRUCache<string, Set<string>>({ max: MAX_AGENTS });
  return (agent, said) => {
    const known = byAgent.get(agent) ?? new Set();
    byAgent.set(agent, known);
    const name = JSON.stringify([said.provider, said.model]);
    if (!known.has(name) && known.size >= MAX_MODELS) return { ...said, ...OTHER };
    known.add(name);
    return said;
  };
}
