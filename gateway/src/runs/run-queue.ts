/** A place in the queue or a slot to run in. */
export interface Ticket {
  /** Resolves when a slot is given; rejects with the signal's reason when it aborts before. */
  ready: Promise<void>;
  /** 0 when it runs at once. */
  position: number;
  /** Gives the slot back, once. */
  release: () => void;
}

interface Waiting {
  start: () => void;
  onPosition: (position: number) => void;
}

export interface RunLimits {
  maxConcurrentRuns: number;
  maxQueuedRuns: number;
  maxWaitingApprovals: number;
}

const POSITIONS_TOLD = 100;

/** At most `maxRunning` at once; at most `maxQueued` others wait, first in, first out. */
export class RunQueue {
  private readonly maxRunning: number;
  private readonly maxQueued: number;
  private readonly waiting: Waiting[] = [];
  private readonly maxWaitingApprovals: number;
  private running = 0;
  private approvals = 0;

  constructor({ maxConcurrentRuns, maxQueuedRuns, maxWaitingApprovals }: RunLimits) {
    this.maxRunning = maxConcurrentRuns;
    this.maxQueued = maxQueuedRuns;
    this.maxWaitingApprovals = maxWaitingApprovals;
  }

  active(): number {
    return this.running;
  }

  queued(): number {
    return this.waiting.length;
  }

  waitingApprovals(): number {
    return this.approvals;
  }

  /** Counts an approval until `done`. At the limit the run keeps its slot, so that the number of unfinished runs is bounded. */
  waitForApproval(): { givesBack: boolean; done: () => void } {
    this.approvals += 1;
    return { givesBack: this.approvals <= this.maxWaitingApprovals, done: () => void (this.approvals -= 1) };
  }

  /** Null when the queue is full. `onPosition` is called with every later position except 0. */
  enter(signal: AbortSignal, onPosition: (position: number) => void): Ticket | null {
    if (this.running < this.maxRunning) return this.start();
    if (this.waiting.length >= this.maxQueued) return null;
    return this.wait(signal, { onPosition, isFirst: false });
  }

  /** For a run that had a slot before: it is never refused and waits before all others. */
  enterFirst(signal: AbortSignal): Ticket {
    if (this.running < this.maxRunning) return this.start();
    const ticket = this.wait(signal, { onPosition: () => {}, isFirst: true });
    this.tellPositions(1);
    return ticket;
  }

  private start(): Ticket {
    this.running += 1;
    return { ready: Promise.resolve(), position: 0, release: this.releaseOnce() };
  }

  private wait(
    signal: AbortSignal,
    { onPosition, isFirst }: { onPosition: Waiting['onPosition']; isFirst: boolean },
  ): Ticket {
    let release = () => {};
    const ready = new Promise<void>((resolve, reject) => {
      const leave = () => {
        const at = this.waiting.indexOf(entry);
        if (at >= 0) this.waiting.splice(at, 1);
        this.tellPositions(at);
        reject(signal.reason as Error);
      };
      const entry: Waiting = {
        onPosition,
        start: () => {
          signal.removeEventListener('abort', leave);
          release = this.releaseOnce();
          resolve();
        },
      };
      if (isFirst) this.waiting.unshift(entry);
      else this.waiting.push(entry);
      signal.addEventListener('abort', leave, { once: true });
    });
    return { ready, position: this.waiting.length, release: () => release() };
  }

  private releaseOnce(): () => void {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const next = this.waiting.shift();
      if (!next) {
        this.running -= 1;
        return;
      }
      next.start();
      this.tellPositions(0);
    };
  }

  private tellPositions(from: number): void {
    const end = Math.min(this.waiting.length, POSITIONS_TOLD);
    for (let at = Math.max(from, 0); at < end; at++) this.waiting[at]?.onPosition(at + 1);
  }
}
