/** An approval that waits in this process. */
export interface Waiting {
  id: string;
  runId: string;
  team: string | null;
  stage: string;
}

/** One waiter; a wake before the pause ends the pause at once. */
export interface Waiter {
  /** Resolves on a wake, a timeout or an abort; the caller checks which. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
  leave(): void;
}

/** The approvals that wait in this process, and how to wake them. */
export interface Waiters {
  enter(question: Waiting): Waiter;
  wake(id: string): void;
  /** Whether this approval waits here. */
  has(id: string): boolean;
  /** Whether this run waits for an approval here. */
  asks(runId: string): boolean;
  /** Pending approvals of production runs by team, an empty name for none (Orchestration 6). */
  pendingByTeam(): Map<string, number>;
}

interface Entry extends Waiting {
  woken: boolean;
  call(): void;
}

export function createWaiters(): Waiters {
  const entries = new Set<Entry>();
  return {
    enter: (question) => {
      const entry: Entry = { ...question, woken: false, call: () => undefined };
      entries.add(entry);
      return {
        pause: (milliseconds, signal) => pause(entry, milliseconds, signal),
        leave: () => void entries.delete(entry),
      };
    },
    wake: (id) => {
      for (const entry of entries) {
        if (entry.id !== id) continue;
        entry.woken = true;
        entry.call();
      }
    },
    has: (id) => [...entries].some((entry) => entry.id === id),
    asks: (runId) => [...entries].some((entry) => entry.runId === runId),
    pendingByTeam: () => {
      const waiting = new Map(
        [...entries].filter(({ stage }) => stage === 'production').map(({ id, team }) => [id, team ?? '']),
      );
      const teams = new Map<string, number>();
      for (const team of waiting.values()) teams.set(team, (teams.get(team) ?? 0) + 1);
      return teams;
    },
  };
}

function pause(entry: Entry, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      entry.woken = false;
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    entry.call = done;
    if (signal.aborted || entry.woken) done();
    else signal.addEventListener('abort', done, { once: true });
  });
}
