import type { ActiveRun } from './active-run.ts';
import { createShares } from './shares.ts';
import { topOf } from './workers.ts';

/** Requests and checks of one run and its sub-runs that go on at the same time: each keeps what was sent and what is answered. */
const MOST_OF_RUN = 64;

const open = createShares(MOST_OF_RUN);

/** By the run that no other one started, none of them without any; the one whose turn was the longest ago comes first. */
const waiting = new Map<ActiveRun, Set<() => void>>();

/** Waits until a run may have one more request or check open; where the signal aborts first, it takes no place. */
export async function enterCall(run: ActiveRun, signal: AbortSignal): Promise<Disposable> {
  const top = topOf(run);
  const isFree = !waiting.has(top) && open.fits(top, 1);
  if (isFree) open.add(top, 1);
  const isIn = isFree || (await turnOf(top, signal));
  const leave = () => {
    open.add(top, -1);
    letIn();
  };
  return { [Symbol.dispose]: isIn ? leave : () => undefined };
}

/** Resolves false where the signal aborts first. */
function turnOf(top: ActiveRun, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const own = waiting.get(top) ?? new Set();
    const enter = () => {
      signal.removeEventListener('abort', giveUp);
      resolve(true);
    };
    const giveUp = () => {
      own.delete(enter);
      if (own.size === 0) waiting.delete(top);
      resolve(false);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    waiting.set(top, own.add(enter));
  });
}

function letIn(): void {
  for (const [top, own] of waiting.entries().toArray()) {
    if (!open.fits(top, 1)) continue;
    const [enter] = own;
    if (enter) own.delete(enter);
    waiting.delete(top);
    if (own.size > 0) waiting.set(top, own);
    open.add(top, 1);
    enter?.();
  }
}
