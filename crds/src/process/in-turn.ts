import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { Lines } from './lines.ts';

/** Of one turn of the event loop, for one kind of work. */
const TURN_MS = 5;
/** Turns of the event loop that only let clients in, before there is work again. */
const MOST_RESTS = 64;

let newcomers = 0;

/** A client connected. Node takes one in each turn of the event loop, so there may be more. */
export function noteNewcomer(): void {
  newcomers += 1;
}

/** After a turn of the event loop in which nobody came, or as many as may be. */
export function afterNewcomers(work: () => void, known: number | null = null, rests = MOST_RESTS): void {
  setImmediate(() => {
    if (newcomers === known || rests === 0) work();
    else afterNewcomers(work, newcomers, rests - 1);
  });
}

/**
 * Does something at once, or, where this turn of the event loop has no time left, in a later one, after all that waits already for the same
 * one. Those for whom something waits take turns.
 */
export type InTurn = (work: () => void, whose?: string) => void;

/** Where nobody asks yet. */
const forNobody = AsyncLocalStorage.snapshot();

interface Options {
  /** Default: work is done for the one who asks, not for who was first to wait. */
  forNobody?: boolean;
}

/** Turns for one kind of work, which do not wait for those of another. */
export function createTurns(options: Options = {}): InTurn {
  let isTurn = false;
  let turnEnds = 0;
  let isBehind = false;
  const lines = new Lines<() => void>();
  const endTurn = () => void (isTurn = false);
  const hasTime = (): boolean => {
    if (isTurn) return performance.now() < turnEnds;
    isTurn = true;
    lines.passTurn();
    turnEnds = performance.now() + TURN_MS;
    afterNewcomers(endTurn);
    return true;
  };
  const goOn = (): void => {
    if (lines.isEmpty()) return void (isBehind = false);
    if (!hasTime()) return void setImmediate(goOn);
    // After what the work leaves to be done at once, which counts too.
    queueMicrotask(() => process.nextTick(goOn));
    lines.take()?.();
  };
  return (work, whose = '') => {
    if (!isBehind && hasTime()) return work();
    lines.add(whose, options.forNobody ? work : AsyncResource.bind(work));
    if (!isBehind) setImmediate(forNobody, goOn);
    isBehind = true;
  };
}

/** For what clients ask for. */
export const inTurn = createTurns({ forNobody: true });
