import { type AgentRunParams, rpcError } from '@signalbox/crds';
import { Counts } from '../runs/counts.ts';
import type { RunWatcher } from '../runs/run.ts';
import { shareOf } from '../runs/share.ts';
import type { RpcAnswer } from './one-frame.ts';

/** Makes room for a call of so many bytes: null where there is none, else what gives it back. */
export type TakeRoom = (params: AgentRunParams, watcher: RunWatcher, bytes: number) => (() => void) | null;

export const NO_ROOM: RpcAnswer = {
  ok: false,
  error: rpcError('at_capacity', 'too many bytes of calls that are not answered', { retry_after_ms: 1000 }),
};

/**
 * Bounds what calls of all connections hold: those of one share half of what the others leave, so that there is room for one more;
 * one connection a quarter, unless it may name whose runs it starts.
 */
export function createRequestRoom(most: number): TakeRoom {
  const ofShares = new Counts();
  const ofConnections = new Counts<RunWatcher>();
  return (params, watcher, bytes) => {
    const { key } = shareOf(params, watcher);
    const own = ofShares.of(key);
    if (own + bytes > (most - (ofShares.all - own)) / 2) return null;
    if (watcher.approves === 'none' && ofConnections.of(watcher) + bytes > most / 4) return null;
    const given = [ofShares.add(key, bytes), ofConnections.add(watcher, bytes)];
    return () => {
      for (const giveBack of given) giveBack();
    };
  };
}

/** Calls `free` when nothing holds the call any more. */
export function freeing(answering: Promise<RpcAnswer>, free: () => void): Promise<RpcAnswer> {
  const end = (answer: RpcAnswer) => {
    if ('later' in answer && answer.held) void answer.held.then(free, free);
    else free();
  };
  answering.then(end, free);
  return answering;
}
