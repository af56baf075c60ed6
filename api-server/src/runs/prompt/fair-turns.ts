import { createTurns } from '@signalbox/crds/process/in-turn';
import type { Owner } from '@signalbox/crds/process/compute';

/**
 * Turns of the event loop that namespaces, and pipelines of the operator, have one after the other: one with hundreds of branches at work delays
 * the runs of others by one turn.
 */
export function createFairTurns(): (owner: Owner) => Promise<void> {
  const inTurn = createTurns();
  /** By who shares a turn; whose turn was the longest ago comes first. */
  const waiting = new Map<string, (() => void)[]>();
  const next = () => {
    const [[key, own] = ['', []]] = waiting;
    const begin = own.shift();
    waiting.delete(key);
    if (own.length > 0) waiting.set(key, own);
    begin?.();
  };
  return ({ share, group }) =>
    new Promise((begin) => {
      const key = group === undefined ? `pipeline ${share}` : `namespace ${group}`;
      const own = waiting.get(key) ?? [];
      own.push(begin);
      waiting.set(key, own);
      // In an immediate of its own, so that what one does with its turn counts before the next one has it.
      setImmediate(() => inTurn(next));
    });
}
