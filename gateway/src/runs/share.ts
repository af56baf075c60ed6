import type { AgentRunParams } from '@signalbox/crds';

/** Whose runs share their part of the slots. */
export interface Share {
  key: string;
  /** A tenant's: it never holds all slots, nor all places of the queue. */
  isBounded: boolean;
}

/** The runs of a namespace, else of a pipeline, else of an agent. */
export function shareOf({ agent, metadata }: Pick<AgentRunParams, 'agent' | 'metadata'>): Share {
  const { namespace, pipeline } = metadata ?? {};
  if (namespace) return { key: `namespace ${namespace}`, isBounded: true };
  return { key: pipeline ? `pipeline ${pipeline}` : `agent ${agent}`, isBounded: false };
}

/** What a bounded share may have of `all`. */
export const partOf = (all: number): number => Math.max(1, Math.floor((all * 3) / 4));
