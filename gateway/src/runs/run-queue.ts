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

const POSITIONS_TOLD = 100;

/** At most `maxRunning` at once; at most `maxQueued` others wait, first in, first out. */
export class RunQueue {
  private readonly maxRunning: number;
  private readonly maxQueued: number;
  private readonly waiting: Waiting[] = [];
  private running = 0;

  constructor(maxRunning: number, maxQueued: number) {
    this.maxRunning = maxRunning;
    this.maxQueued = maxQueued;
  }

  active(): number {
    return this.running;
  }

  queued(): number {
    return this.waiting.length;
  }

  /** Null when the queue is full. `onPosition` is called with every later position except 0. */
  enter(signal: AbortSignal, onPosition: (position: number) => void): Ticket | null {
    if (this.running < this.maxRunning) {
      this.running += 1;
      return { ready: Promise.resolve(), position: 0, release: this.releaseOnce() };
    }
    if (this.waiting.length >= this.maxQueued) return null;
    return this.wait(signal, onPosition);
  }

  private wait(signal: AbortSignal, onPosition: (position: number) => void): Ticket {
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
      this.waiting.push(entry);
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
