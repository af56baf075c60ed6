import { Counts, hasRoom } from './counts.ts';
import type { Ticket } from './run-queue.ts';
import type { Share } from './share.ts';

/** Why a run that waited for its pod got no slot. */
export class NotReady extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotReady';
  }
}

/** Runs wait here for their agent's pod before they queue for a slot, so that a pod that does not start blocks no other run. */
export class WaitingRoom {
  private readonly max: number;
  private readonly waiting = new Counts();

  constructor(max: number) {
    this.max = max;
  }

  size(): number {
    return this.waiting.all;
  }

  /** Null when it is full, and nothing waits. The ticket is ready once `ready` is and `enter` gave a slot; else it rejects with `NotReady`. */
  enter(share: Share, ready: () => Promise<boolean>, enter: () => Ticket | null): Ticket | null {
    if (!hasRoom(this.waiting, this.max, share)) return null;
    const gone = this.waiting.add(share.key);
    let slot: Ticket | null = null;
    const wait = async (): Promise<void> => {
      const isReady = await ready().finally(gone);
      if (!isReady) throw new NotReady('the agent has no pod that answers');
      slot = enter();
      if (!slot) throw new NotReady('the agent is ready, but all run slots are in use and the queue is full');
      await slot.ready;
    };
    return { ready: wait(), position: 0, release: () => slot?.release() };
  }
}
