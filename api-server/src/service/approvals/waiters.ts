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
  const byId = new Map<string, Set<Entry>>();
  const byRun = new Map<string, Set<Entry>>();
  return {
    enter: (question) => {
      const entry: Entry = { ...question, woken: false, call: () => undefined };
      add(byId, entry.id, entry);
      add(byRun, entry.runId, entry);
      return {
        pause: (milliseconds, signal) => pause(entry, milliseconds, signal),
        leave: () => {
          remove(byId, entry.id, entry);
          remove(byRun, entry.runId, entry);
        },
      };
    },
    wake: (id) => {
      for (const entry of byId.get(id) ?? []) {
        entry.woken = true;
        entry.call();
      }
    },
    has: (id) => byId.has(id),
    asks: (runId) => byRun.has(runId),
    pendingByTeam: () => {
      const teams = new Map<string, number>();
      for (const entries of byId.values()) {
        const asked = [...entries].findLast(({ stage }) => stage === 'production');
        if (asked) teams.set(asked.team ?? '', (teams.get(asked.team ?? '') ?? 0) + 1);
      }
      return teams;
    },
  };
}

const add = (index: Map<string, Set<Entry>>, key: string, entry: Entry) =>
  void index.set(key, (index.get(key) ?? new Set()).add(entry));

function remove(index: Map<string, Set<Entry>>, key: string, entry: Entry): void {
  const entries = index.get(key);
  entries?.delete(entry);
  if (entries?.size === 0) index.delete(key);
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
