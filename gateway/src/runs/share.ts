import type { AgentRunParams } from '@signalbox/crds';
import type { ApprovalRight } from '../identity/authenticate.ts';
import type { Caller } from '../identity/caller.ts';

/** Whose runs share their part of the slots. */
export interface Share {
  key: string;
  /** A tenant's: it never holds all slots, nor all places of the queue. */
  isBounded: boolean;
}

/**
 * The runs of a namespace, else of a pipeline, else of an agent. Where the gateway knows the api-server by its approve token, nobody
 * else chooses: those runs are of the token, from whatever address.
 */
export function shareOf(
  { agent, metadata }: Pick<AgentRunParams, 'agent' | 'metadata'>,
  { approves, caller }: { approves: ApprovalRight; caller?: Caller },
): Share {
  if (approves === 'none') return { key: `caller ${caller?.token}`, isBounded: true };
  const { namespace, pipeline } = metadata ?? {};
  if (namespace) return { key: `namespace ${namespace}`, isBounded: true };
  return { key: pipeline ? `pipeline ${pipeline}` : `agent ${agent}`, isBounded: false };
}

/** What a bounded share may have of `all`. */
export const partOf = (all: number): number => Math.max(1, Math.floor((all * 3) / 4));
