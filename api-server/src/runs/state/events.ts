import type { RunEvent, TerminalRunStatus } from './model.ts';

/** Events kept of one run; what comes later is left out but for ends, warnings and errors. */
export const MAX_EVENTS = 2_000;

export type RunFrame = RunEvent | { type: 'run_complete'; status: TerminalRunStatus };
export type Listener = (frame: RunFrame) => void;
type Level = RunEvent['level'];

/** The log of one live run: progress is told at once, ends once they are stored; `take` hands over what is not stored yet. */
export interface Journal {
  add(level: Level, event: string, msg: string, fields?: Record<string, unknown>): void;
  take(): RunEvent[];
  /** Names what has happened up to now, for `stored`. */
  mark(): number;
  /** Everything up to the mark is stored: ends that waited for that are told now. */
  stored(mark: number): void;
}

export interface EventHub {
  /** Opens the journal of a run that begins or goes on; `stored` are the events it already has. */
  open(runId: string, stored: RunEvent[]): Journal;
  /** Tells the listeners the end and forgets the run; its stored events remain. */
  close(runId: string, status: TerminalRunStatus): void;
  /** Forgets the run without an end: it goes on after a restart. */
  drop(runId: string): void;
  /** Whether this process has the run. */
  isLive(runId: string): boolean;
  subscribe(runId: string, listener: Listener): () => void;
  history(runId: string, afterSeq: number): Promise<RunEvent[]>;
}

export interface EventHubDeps {
  readStored(runId: string, afterSeq: number): Promise<RunEvent[]>;
  now(): number;
  /** Receives every event once it may be told, for the service log. */
  observe(runId: string, event: RunEvent): void;
  /** Receives every event at once, for traces, which are no promise to anybody. */
  trace?(runId: string, event: RunEvent): void;
}

interface Live {
  events: RunEvent[];
  unsaved: RunEvent[];
  /** Told to nobody yet: the end of a step or run, a question, and what came after, is true only once it is stored. */
  untold: RunEvent[];
  /** Whether the log has said that it is full. */
  saidFull: boolean;
}

const WORD = /_(completed|stopped|escalated|aborted|failed|cancelled|skipped)$|^approval_requested$/;
const isEnd = (event: string): boolean => WORD.test(event);

const FULL = 'log_full';
const isFullNote = ({ event }: RunEvent): boolean => event === FULL;

/** Live events in memory, ended ones from the store, one numbering for both (Orchestration 6). */
export function createEventHub(deps: EventHubDeps): EventHub {
  const live = new Map<string, Live>();
  const listeners = new Map<string, Set<Listener>>();
  const publish = (runId: string, frame: RunFrame) => {
    for (const listener of listeners.get(runId) ?? []) listener(frame);
  };
  const tell = (runId: string, event: RunEvent) => {
    deps.observe(runId, event);
    publish(runId, event);
  };
  return {
    open: (runId, stored) => {
      const run: Live = { events: [...stored], unsaved: [], untold: [], saidFull: stored.some(isFullNote) };
      live.set(runId, run);
      const put = (level: Level, event: string, msg: string, fields?: Record<string, unknown>) => {
        const seq = (run.events.at(-1)?.seq ?? 0) + 1;
        const ts = new Date(deps.now()).toISOString();
        const entry: RunEvent = { seq, ts, level, event, msg, run_id: runId, ...fields };
        run.events.push(entry);
        run.unsaved.push(entry);
        deps.trace?.(runId, entry);
        if (run.untold.length > 0 || isEnd(event)) run.untold.push(entry);
        else tell(runId, entry);
      };
      return {
        add: (level, event, msg, fields) => {
          if (run.events.length < MAX_EVENTS || level !== 'info' || isEnd(event)) return put(level, event, msg, fields);
          if (run.saidFull) return undefined;
          run.saidFull = true;
          return put('warn', FULL, 'the log is full: from here on it has only ends, warnings and errors');
        },
        take: () => run.unsaved.splice(0),
        mark: () => run.events.at(-1)?.seq ?? 0,
        stored: (mark) => {
          const later = run.untold.findIndex(({ seq }) => seq > mark);
          for (const entry of run.untold.splice(0, later === -1 ? run.untold.length : later)) tell(runId, entry);
        },
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
    isLive: (runId) => live.has(runId),
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
      const told = run.untold[0]?.seq ?? Infinity;
      return Promise.resolve(run.events.filter(({ seq }) => seq > afterSeq && seq < told));
    },
  };
}
