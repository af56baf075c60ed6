/** How many runs begin in one turn of the event loop while others wait. */
export const STARTS_A_TURN = 8;
/** A run that waits longer begins whatever else there is to do. */
const PATIENCE_MS = 100;

/**
 * Spreads the beginnings of a storm of runs: senders of alerts have their answers first, and a run begins in the next turn of
 * the event loop when it is alone, at most about 100 ms later when a thousand come at once.
 */
export function createStartQueue(deps: { now: () => number; nextTurn: (work: () => void) => void }) {
  let waiting: { begin: () => void; since: number }[] = [];

  const beginSome = () => {
    const overdue = deps.now() - PATIENCE_MS;
    const until = waiting.findIndex(({ since }, place) => place >= STARTS_A_TURN && since > overdue);
    const due = until === -1 ? waiting : waiting.slice(0, until);
    waiting = until === -1 ? [] : waiting.slice(until);
    for (const { begin } of due) begin();
    if (waiting.length > 0) deps.nextTurn(beginSome);
  };

  return {
    /** Resolves when the caller's run may begin; first come, first served. */
    turn: (): Promise<void> =>
      new Promise((begin) => {
        if (waiting.push({ begin, since: deps.now() }) === 1) deps.nextTurn(beginSome);
      }),
  };
}
