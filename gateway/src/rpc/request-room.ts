import { rpcError } from '@signalbox/crds';
import { partOf } from '../runs/share.ts';
import type { RpcAnswer } from './one-frame.ts';

/** Makes room for a request of one connection: null where there is none, else what gives it back. */
export type TakeRoom = (bytes: number) => (() => void) | null;

export const NO_ROOM: RpcAnswer = {
  ok: false,
  error: rpcError('at_capacity', 'too many bytes of requests that are not answered', { retry_after_ms: 1000 }),
};

/** Bounds what requests hold, of all connections to a server: those with one token three quarters, each a quarter. */
export function createRequestRoom(most: number): (token: string) => TakeRoom {
  const all = { bytes: 0, most };
  const ofTokens = new Map<string, typeof all>();
  return (token) => {
    const ofToken = ofTokens.get(token) ?? { bytes: 0, most: partOf(most) };
    ofTokens.set(token, ofToken);
    const counts = [all, ofToken, { bytes: 0, most: most / 4 }];
    return (bytes) => {
      if (counts.some((count) => count.bytes + bytes > count.most)) return null;
      for (const count of counts) count.bytes += bytes;
      return () => {
        for (const count of counts) count.bytes -= bytes;
      };
    };
  };
}

/** Calls `free` when nothing holds the request any more. */
export function freeing(answering: Promise<RpcAnswer>, free: () => void): Promise<RpcAnswer> {
  const end = (answer: RpcAnswer) => {
    if ('later' in answer && answer.held) void answer.held.then(free, free);
    else free();
  };
  answering.then(end, free);
  return answering;
}
