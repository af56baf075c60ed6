import type { RunEvent, TerminalRunStatus } from './model.ts';

/** Events kept of one run; what comes later is left out but for ends, warnings and errors. */
export const MAX_EVENTS = 2_000;

export type RunFrame = RunEvent | { type: 'run_complete'; status: TerminalRunStatus };
export type Listener = (frame: RunFrame) => void;
type Level = RunEvent['level'];

/** The log of one live run. Progress is published at once, an end once it is stored. `take` returns the events that are not stored yet. */
export interface Journal {
  add(level: Level, event: string, msg: string, fields?: Record<string, unknown>): void;
  take(): RunEvent[];
  /** The position of the last event, for `stored`. */
  mark(): number;
  /** Everything up to the mark is stored: ends that waited for that are published now. */
  stored(mark: number): void;
}

export interface EventHub {
  /** Opens the journal of a run that begins or goes on; `stored` are the events it already has. */
  open(runId: string, stored: RunEvent[]): Journal;
  /** Publishes the end and forgets the run; its stored events remain. */
  close(runId: string, status: TerminalRunStatus): void;
  /** Forgets the run without an end: it is resumed later. */
  drop(runId: string): void;
  /** Whether this process has the run. */
  isLive(runId: string): boolean;
  subscribe(runId: string, listener: Listener): () => void;
  history(runId: string, afterSeq: number): Promise<RunEvent[]>;
}

export interface EventHubDeps {
  readStored(runId: string, afterSeq: number): Promise<RunEvent[]>;
  now(): number;
  /** Receives every event once it is published, for the service log. */
  observe(runId: string, event: RunEvent): void;
  /** Receives every event at once, for traces, which may show what is never stored. */
  trace?(runId: string, event: RunEvent): void;
}

interface Live {
  events: RunEvent[];
  unsaved: RunEvent[];
  /** Not published yet: the end of a step or run, an approval request, and what came after it wait until they are stored. */
  unpublished: RunEvent[];
  /** Whether the log has said that it is full. */
  saidFull: boolean;
}

const END_EVENT = /_(completed|stopped|escalated|aborted|failed|cancelled|skipped)$|^approval_requested$/;
const isEnd = (event: string): boolean => END_EVENT.test(event);

const FULL = 'log_full';
const isFullNote = ({ event }: RunEvent): boolean => event === FULL;

/** ISO 8601; many events of many runs have the same millisecond. */
function rememberedText(): (at: number) => string {
  let last = { at: Number.NaN, text: '' };
  return (at) => {
    if (last.at !== at) last = { at, text: new Date(at).toISOString() };
    return last.text;
  };
}

/** Live events in memory, ended ones from the store, one numbering for both (Orchestration 6). */
export function createEventHub(deps: EventHubDeps): EventHub {
  const live = new Map<string, Live>();
  const textOf = rememberedText();
  const listeners = new Map<string, Set<Listener>>();
  const publish = (runId: string, frame: RunFrame) => {
    for (const listener of listeners.get(runId) ?? []) listener(frame);
  };
  const announce = (runId: string, event: RunEvent) => {
    deps.observe(runId, event);
    publish(runId, event);
  };
  return {
    open: (runId, stored) => {
      const run: Live = { events: [...stored], unsaved: [], unpublished: [], saidFull: stored.some(isFullNote) };
      live.set(runId, run);
      const put = (level: Level, event: string, msg: string, fields?: Record<string, unknown>) => {
        const seq = (run.events.at(-1)?.seq ?? 0) + 1;
        const ts = textOf(deps.now());
        const entry: RunEvent = { seq, ts, level, event, msg, run_id: runId, ...fields };
        run.events.push(entry);
        run.unsaved.push(entry);
        deps.trace?.(runId, entry);
        if (run.unpublished.length > 0 || isEnd(event)) run.unpublished.push(entry);
        else announce(runId, entry);
      };
      return {
        add: (level, event, msg, fields) => {
          if (run.events.length < MAX_EVENTS || level !== 'info' || isEnd(event)) return put(level, event, msg, fields);
          if (run.saidFull) return undefined;
          run.saidFull = true;
          return put('warn', FULL, 'the log is full; only ends, warnings and errors follow');
        },
        take: () => run.unsaved.splice(0),
        mark: () => run.events.at(-1)?.seq ?? 0,
        stored: (mark) => {
          const later = run.unpublished.findIndex(({ seq }) => seq > mark);
          for (const entry of run.unpublished.splice(0, later === -1 ? run.unpublished.length : later))
            announce(runId, entry);
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
      const held = run.unpublished[0]?.seq ?? Infinity;
      return Promise.resolve(run.events.filter(({ seq }) => seq > afterSeq && seq < held));
    },
  };
}
