import type { RunQueue, Ticket } from './run-queue.ts';
import type { Share } from './share.ts';

/** The slot of one run. While the run waits for approvals it gives the slot back, and takes one again after a decision. */
export class RunSlot {
  private readonly queue: RunQueue;
  private readonly share: Share;
  private readonly signal: AbortSignal;
  private ticket: Ticket | null;
  private taking: Promise<void> | null = null;
  private wasGiven = false;
  private ended = false;

  constructor(queue: RunQueue, ticket: Ticket, { share, signal }: { share: Share; signal: AbortSignal }) {
    this.queue = queue;
    this.ticket = ticket;
    this.share = share;
    this.signal = signal;
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

  /** Resolves with the decision once the run has a slot again. Rejects when the run's signal aborts. */
  async duringApproval<Decision>(decide: () => Promise<Decision>): Promise<Decision> {
    const waiting = this.queue.waitForApproval(this.share);
    if (waiting.givesBack) this.giveBack();
    const decision = await decide().finally(waiting.done);
    await this.takeAgain();
    return decision;
  }

  end(): void {
    this.ended = true;
    this.giveBack();
  }

  private giveBack(): void {
    this.ticket?.release();
    this.ticket = null;
  }

  private takeAgain(): Promise<void> {
    if (this.ticket) return Promise.resolve();
    this.taking ??= this.take().finally(() => (this.taking = null));
    return this.taking;
  }

  private async take(): Promise<void> {
    this.signal.throwIfAborted();
    const ticket = this.queue.enterFirst(this.share, this.signal);
    await ticket.ready;
    this.ticket = ticket;
    if (this.ended) this.giveBack();
  }
}
