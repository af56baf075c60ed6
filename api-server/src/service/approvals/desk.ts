/** An approval that waits in this process. */
export interface Waiting {
  id: string;
  runId: string;
  team: string | null;
  stage: string;
}

/** One waiter; a wake before the pause ends the pause at once. */
export interface Place {
  /** Resolves on a wake, a timeout or an abort; the caller checks which. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
  leave(): void;
}

/** The approvals that wait in this process, and how to wake them. */
export interface Desk {
  enter(question: Waiting): Place;
  wake(id: string): void;
  /** Whether this run waits for an approval here. */
  asks(runId: string): boolean;
  /** Pending approvals of production runs by team, an empty name for none (Orchestration 6). */
  pendingByTeam(): Map<string, number>;
}

interface Seat extends Waiting {
  woken: boolean;
  call(): void;
}

export function createDesk(): Desk {
  const seats = new Set<Seat>();
  return {
    enter: (question) => {
      const seat: Seat = { ...question, woken: false, call: () => undefined };
      seats.add(seat);
      return {
        pause: (milliseconds, signal) => pause(seat, milliseconds, signal),
        leave: () => void seats.delete(seat),
      };
    },
    wake: (id) => {
      for (const seat of seats) {
        if (seat.id !== id) continue;
        seat.woken = true;
        seat.call();
      }
    },
    asks: (runId) => [...seats].some((seat) => seat.runId === runId),
    pendingByTeam: () => {
      const waiting = new Map(
        [...seats].filter(({ stage }) => stage === 'production').map(({ id, team }) => [id, team ?? '']),
      );
      const teams = new Map<string, number>();
      for (const team of waiting.values()) teams.set(team, (teams.get(team) ?? 0) + 1);
      return teams;
    },
  };
}

function pause(seat: Seat, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      seat.woken = false;
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    seat.call = done;
    if (signal.aborted || seat.woken) done();
    else signal.addEventListener('abort', done, { once: true });
  });
}
