import type { Ticket } from './run-queue.ts';

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
  private waiting = 0;

  constructor(max: number) {
    this.max = max;
  }

  size(): number {
    return this.waiting;
  }

  /** Null when it is full. The ticket is ready once `ready` is and `enter` gave a slot; else it rejects with `NotReady`. */
  enter(ready: Promise<boolean>, enter: () => Ticket | null): Ticket | null {
    if (this.waiting >= this.max) return null;
    this.waiting += 1;
    let slot: Ticket | null = null;
    const wait = async (): Promise<void> => {
      const isReady = await ready.finally(() => {
        this.waiting -= 1;
      });
      if (!isReady) throw new NotReady('the agent has no pod that answers');
      slot = enter();
      if (!slot) throw new NotReady('the agent is ready, but all run slots are in use and the queue is full');
      await slot.ready;
    };
    return { ready: wait(), position: 0, release: () => slot?.release() };
  }
}
