import type { Slot } from './active-run.ts';
import { stopReason } from './stopped.ts';

/** The part that one worker of a group has in its slot. */
export interface Part {
  /** For the branch that the worker runs. */
  slot: Slot;
  /** The worker has no more to do. */
  leave(): void;
}

/**
 * The slot of a run as the workers of a group share it: given back while every worker that is left waits for a person, and
 * taken again once by the first that goes on.
 */
export function shareSlot(slot: Slot): { join(): Part } {
  let working = 0;
  let resting = 0;
  let taking: Promise<void> | null = null;
  const settle = () => {
    if (working === 0 && resting > 0) slot.giveBack();
  };
  /** One takes it for all that wait; where that one is stopped, the next of them does. */
  const take = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      const isFirst = taking === null;
      taking ??= slot.takeAgain(signal).finally(() => (taking = null));
      try {
        return await taking;
      } catch (error) {
        if (isFirst || signal.aborted) throw error;
      }
    }
  };
  return {
    join: () => {
      let rests = false;
      working += 1;
      const giveBack = () => {
        if (rests) return;
        rests = true;
        resting += 1;
        working -= 1;
        settle();
      };
      return {
        slot: {
          giveBack,
          takeAgain: async (signal) => {
            if (!rests) return;
            rests = false;
            resting -= 1;
            // Counted before the slot is taken, so that another worker does not give it back meanwhile.
            working += 1;
            try {
              await take(signal);
            } catch (error) {
              giveBack();
              throw error;
            }
          },
        },
        leave: () => {
          if (rests) resting -= 1;
          else working -= 1;
          settle();
        },
      };
    },
  };
}

/** Takes the slot for what comes next; a run that is stopped needs none. */
export async function holdSlot(slot: Slot, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  try {
    await slot.takeAgain(signal);
  } catch (error) {
    if (stopReason(signal) === null) throw error;
  }
}
