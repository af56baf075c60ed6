import type { Io } from './channel.ts';

const DAY_MS = 86_400_000;
const KEEP_MS = 30 * DAY_MS;
/** Of what did not arrive: somebody may still send it again. */
const KEEP_UNDELIVERED_MS = 365 * DAY_MS;
const PRUNE_EVERY_MS = 3_600_000;

/** Of what ended well or was dismissed, and of what did not arrive; in milliseconds. */
export interface PruneBefore {
  done: number;
  undelivered: number;
}
export type Pruned = Record<keyof PruneBefore, number>;

interface PruningDeps {
  outbox: { prune(before: PruneBefore, signal: AbortSignal): Promise<Pruned> };
  log: Pick<Io['log'], 'warn'>;
}

/** Removes old messages, once an hour and never twice at a time. */
export function createPruning({ outbox, log }: PruningDeps): (at: number, signal: AbortSignal) => Promise<void> {
  let prunedAt = 0;
  let going = false;
  const prune = async (at: number, signal: AbortSignal) => {
    const before = { done: at - KEEP_MS, undelivered: at - KEEP_UNDELIVERED_MS };
    const { undelivered } = await outbox.prune(before, signal);
    if (undelivered > 0)
      log.warn({ deleted: undelivered }, 'notifications that did not arrive were deleted after a year');
  };
  return async (at, signal) => {
    if (going || at - prunedAt < PRUNE_EVERY_MS) return;
    [going, prunedAt] = [true, at];
    await prune(at, signal).finally(() => (going = false));
  };
}
