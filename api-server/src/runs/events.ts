import type { RunEvent, TerminalRunStatus } from './model.ts';

/** Events kept of one run; what comes later is counted and left out. */
export const MAX_EVENTS = 2_000;

export type RunFrame = RunEvent | { type: 'run_complete'; status: TerminalRunStatus };
export type Listener = (frame: RunFrame) => void;
type Level = RunEvent['level'];

/** The log of one live run: `add` publishes at once, `take` hands over what is not stored yet. */
export interface Journal {
  add(level: Level, event: string, msg: string, fields?: Record<string, unknown>): void;
  take(): RunEvent[];
}

export interface EventHub {
  /** Opens the journal of a run that begins or goes on; `stored` are the events it already has. */
  open(runId: string, stored: RunEvent[]): Journal;
  /** Tells the listeners the end and forgets the run; its stored events remain. */
  close(runId: string, status: TerminalRunStatus): void;
  /** Forgets the run without an end: it goes on after a restart. */
  drop(runId: string): void;
  subscribe(runId: string, listener: Listener): () => void;
  history(runId: string, afterSeq: number): Promise<RunEvent[]>;
}

export interface EventHubDeps {
  readStored(runId: string, afterSeq: number): Promise<RunEvent[]>;
  now(): number;
  /** Receives every event, for the service log and traces. */
  observe(runId: string, event: RunEvent): void;
}

interface Live {
  events: RunEvent[];
  unsaved: RunEvent[];
}

/** Live events in memory, ended ones from the store, one numbering for both (Orchestration 6). */
export function createEventHub(deps: EventHubDeps): EventHub {
  const live = new Map<string, Live>();
  const listeners = new Map<string, Set<Listener>>();
  const publish = (runId: string, frame: RunFrame) => {
    for (const listener of listeners.get(runId) ?? []) listener(frame);
  };
  return {
    open: (runId, stored) => {
      const run: Live = { events: [...stored], unsaved: [] };
      live.set(runId, run);
      return {
        add: (level, event, msg, fields) => {
          if (run.events.length >= MAX_EVENTS && level === 'info') return;
          const seq = (run.events.at(-1)?.seq ?? 0) + 1;
          const entry: RunEvent = { seq, ts: new Date(deps.now()).toISOString(), level, event, msg, run_id: runId, ...fields };
          run.events.push(entry);
          run.unsaved.push(entry);
          deps.observe(runId, entry);
          publish(runId, entry);
        },
        take: () => run.unsaved.splice(0),
      };
    },
    close: (runId, status) => {
      live.delete(runId);
      publish(runId, { type: 'run_complete', status });
      listeners.delete(runId);
    },
    drop: (runId) => {
      live.delete(runId);
    },
    subscribe: (runId, listener) => {
      const known = listeners.get(runId) ?? new Set();
      listeners.set(runId, known.add(listener));
      return () => {
        known.delete(listener);
        if (known.size === 0 && listeners.get(runId) === known) listeners.delete(runId);
      };
    },
    history: (runId, afterSeq) => {
      const run = live.get(runId);
      if (!run) return deps.readStored(runId, afterSeq);
      return Promise.resolve(run.events.filter(({ seq }) => seq > afterSeq));
    },
  };
}
