import { Counts, hasRoom } from './counts.ts';
import { partOf, type Share } from './share.ts';

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
  share: Share;
  /** It had a slot before. */
  isFirst: boolean;
  start: () => void;
  onPosition: (position: number) => void;
}

export interface RunLimits {
  maxConcurrentRuns: number;
  maxQueuedRuns: number;
  maxWaitingApprovals: number;
}

const POSITIONS_TOLD = 100;

/**
 * At most `maxRunning` at once; at most `maxQueued` others wait. A free slot goes to the share with the fewest running, and of
 * equal ones to who came first, so that many runs of one share do not keep out another's.
 */
export class RunQueue {
  private readonly maxRunning: number;
  private readonly maxQueued: number;
  private readonly waiting: Waiting[] = [];
  private readonly maxWaitingApprovals: number;
  private readonly running = new Counts();
  /** Runs without a slot that wait for an approval. */
  private readonly resting = new Counts();
  private approvals = 0;

  constructor({ maxConcurrentRuns, maxQueuedRuns, maxWaitingApprovals }: RunLimits) {
    this.maxRunning = maxConcurrentRuns;
    this.maxQueued = maxQueuedRuns;
    this.maxWaitingApprovals = maxWaitingApprovals;
  }

  active(): number {
    return this.running.all;
  }

  queued(): number {
    return this.waiting.length;
  }

  waitingApprovals(): number {
    return this.approvals;
  }

  /** Counts an approval until the answer is called, once. */
  waitForApproval(): () => void {
    this.approvals += 1;
    return () => (this.approvals -= 1);
  }

  /**
   * The place of a run that gives its slot back while it waits for approvals; answers what gives the place back, once. Null at the
   * limit: the run keeps its slot, so that the number of unfinished runs is bounded. A bounded share meets its own limit before, so
   * that its approvals do not make others keep theirs.
   */
  rest(share: Share): (() => void) | null {
    return hasRoom(this.resting, this.maxWaitingApprovals, share) ? this.resting.add(share.key) : null;
  }

  /** Null when the queue is full. `onPosition` is called with every later position except 0. */
  enter(share: Share, signal: AbortSignal, onPosition: (position: number) => void): Ticket | null {
    if (this.hasSlot(share)) return this.start(share);
    return this.hasPlace(share) ? this.wait(signal, { share, onPosition, isFirst: false }) : null;
  }

  /** For a run that had a slot before: it is never refused and waits before all others. */
  enterFirst(share: Share, signal: AbortSignal): Ticket {
    if (this.hasSlot(share)) return this.start(share);
    const ticket = this.wait(signal, { share, onPosition: () => {}, isFirst: true });
    this.tellPositions(1);
    return ticket;
  }

  private hasSlot(share: Share): boolean {
    return hasRoom(this.running, this.maxRunning, share);
  }

  /** Runs that had a slot before take no place: as many as a tenant's approvals are decided at once. */
  private hasPlace({ key, isBounded }: Share): boolean {
    const queued = this.waiting.filter(({ isFirst }) => !isFirst);
    if (queued.length >= this.maxQueued) return false;
    return !isBounded || queued.filter(({ share }) => share.key === key).length < partOf(this.maxQueued);
  }

  private start(share: Share): Ticket {
    return { ready: Promise.resolve(), position: 0, release: this.take(share) };
  }

  private wait(signal: AbortSignal, { share, onPosition, isFirst }: Omit<Waiting, 'start'>): Ticket {
    let release = () => {};
    const ready = new Promise<void>((resolve, reject) => {
      const leave = () => {
        const at = this.waiting.indexOf(entry);
        if (at >= 0) this.waiting.splice(at, 1);
        this.tellPositions(at);
        reject(signal.reason as Error);
      };
      const entry: Waiting = {
        share,
        isFirst,
        onPosition,
        start: () => {
          signal.removeEventListener('abort', leave);
          release = this.take(share);
          resolve();
        },
      };
      this.waiting.splice(isFirst ? this.firsts() : this.waiting.length, 0, entry);
      signal.addEventListener('abort', leave, { once: true });
    });
    return { ready, position: this.waiting.length, release: () => release() };
  }

  private firsts(): number {
    return this.waiting.filter(({ isFirst }) => isFirst).length;
  }

  /** Takes a slot; answers what gives it back, once. */
  private take({ key }: Share): () => void {
    const gone = this.running.add(key);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      gone();
      this.startNext();
    };
  }

  private startNext(): void {
    const ready = this.waiting.filter(({ share }) => this.hasSlot(share));
    const first = this.ofFewest(ready.filter(({ isFirst }) => isFirst)) ?? this.ofFewest(ready);
    if (!first) return;
    const at = this.waiting.indexOf(first);
    this.waiting.splice(at, 1);
    first.start();
    this.tellPositions(at);
  }

  private ofFewest(entries: readonly Waiting[]): Waiting | undefined {
    const fewest = Math.min(...new Set(entries.map(({ share }) => this.running.of(share.key))));
    return entries.find(({ share }) => this.running.of(share.key) === fewest);
  }

  private tellPositions(from: number): void {
    const end = Math.min(this.waiting.length, POSITIONS_TOLD);
    for (let at = Math.max(from, 0); at < end; at++) this.waiting[at]?.onPosition(at + 1);
  }
}
