import type { RunQueue, Ticket } from './run-queue.ts';
import { RunAborted } from './run-outcome.ts';
import type { Share } from './share.ts';

/**
 * The slot of one run. While the run waits for approvals, and nothing else is known to go on in it, it gives the slot back, and takes
 * one again after a decision.
 */
export class RunSlot {
  private readonly queue: RunQueue;
  private readonly share: Share;
  private readonly closing = new AbortController();
  private readonly signal: AbortSignal;
  private ticket: Ticket | null;
  private taking: Promise<void> | null = null;
  /** Gives back the place of a run without a slot. */
  private rested: (() => void) | null = null;
  private questions = 0;
  private works = 0;
  private wasGiven = false;

  constructor(queue: RunQueue, ticket: Ticket, { share, signal }: { share: Share; signal: AbortSignal }) {
    this.queue = queue;
    this.ticket = ticket;
    this.share = share;
    this.signal = AbortSignal.any([signal, this.closing.signal]);
  }

  /** Resolves when the run has its first slot; rejects when the run's signal aborts before. */
  async first(): Promise<void> {
    await this.ticket?.ready;
    this.wasGiven = true;
  }

  /** `approval`: it gave its slot back and waits for a person. */
  state(): 'active' | 'queued' | 'approval' {
    if (!this.wasGiven || this.taking) return 'queued';
    return this.ticket ? 'active' : 'approval';
  }

  /**
   * Resolves with the decision: while other questions are open at once, else when the run has a slot again. Rejects when the run
   * ends.
   */
  async duringApproval<Decision>(decide: () => Promise<Decision>): Promise<Decision> {
    const answered = this.queue.waitForApproval();
    this.questions += 1;
    this.rest();
    const decision = await decide().finally(() => {
      answered();
      this.questions -= 1;
    });
    if (this.questions === 0) await this.takeAgain();
    this.rest();
    return decision;
  }

  /** Does the work in a slot, which the run does not give back meanwhile. Rejects when the run ends before. */
  async working<Result>(work: () => Promise<Result>): Promise<Result> {
    this.works += 1;
    try {
      await this.takeAgain();
      this.signal.throwIfAborted();
      return await work();
    } finally {
      this.works -= 1;
      this.rest();
    }
  }

  /** What waits for the slot gets none any more; what goes on keeps it. */
  close(): void {
    this.closing.abort(new RunAborted('cancelled', 'the run is over'));
  }

  end(): void {
    this.close();
    this.wake();
    this.giveBack();
  }

  private rest(): void {
    if (this.questions === 0 || this.works > 0 || !this.ticket) return;
    this.rested = this.queue.rest(this.share);
    if (this.rested) this.giveBack();
  }

  private wake(): void {
    this.rested?.();
    this.rested = null;
  }

  private giveBack(): void {
    this.ticket?.release();
    this.ticket = null;
  }

  private takeAgain(): Promise<void> {
    if (this.ticket) return Promise.resolve();
    this.wake();
    this.taking ??= this.take().finally(() => (this.taking = null));
    return this.taking;
  }

  private async take(): Promise<void> {
    this.signal.throwIfAborted();
    const ticket = this.queue.enterFirst(this.share, this.signal);
    await ticket.ready;
    this.ticket = ticket;
    if (!this.signal.aborted) return;
    this.giveBack();
    this.signal.throwIfAborted();
  }
}
