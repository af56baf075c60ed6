import { getHeapStatistics } from 'node:v8';
import { cutShort } from '@signalbox/crds';
import type { RunEvent, TerminalRunStatus } from './model.ts';

/** Events kept of one run, and characters of them; what comes later is left out but for ends, warnings and errors, after twice as many but for ends, and after four times as many questions and their answers are, too. */
export const MAX_EVENTS = 2_000;
export const MAX_EVENT_CHARS = 2 * 1024 * 1024;

export type RunFrame = RunEvent | { type: 'run_complete'; status: TerminalRunStatus };
export type Listener = (frame: RunFrame) => void;
type Level = RunEvent['level'];

/** Events that are stored together: a JSON array, and the position of the first. */
export interface PackedEvents {
  firstSeq: number;
  json: string;
}

/** The log of one live run. Progress is published at once, an end once it is stored. `take` returns the events that are not stored yet, or null. */
export interface Journal {
  add(level: Level, event: string, msg: string, fields?: Record<string, unknown>): void;
  take(): PackedEvents | null;
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
  /** Characters of the events of all runs that this process has. */
  chars(): number;
  subscribe(runId: string, listener: Listener): () => void;
  history(runId: string, afterSeq: number): Promise<RunEvent[]>;
}

export interface EventHubDeps {
  readStored(runId: string, afterSeq: number): Promise<RunEvent[]>;
  now(): number;
  /** Receives every event once it is published, for the service log; `json` is the event as it is stored. */
  observe(event: RunEvent, json: string): void;
  /** Receives every event at once, for traces, which may show what is never stored. */
  trace?(runId: string, event: RunEvent): void;
  /** Of all runs; over it each has little room. Default: a part of the heap. */
  maxChars?: number;
}

/** An event and its JSON, which the store and the service log share. */
interface Written {
  event: RunEvent;
  json: string;
}

type Said = Pick<RunEvent, 'level' | 'event' | 'msg'> & { fields?: Record<string, unknown> | undefined };

type Place = Pick<RunEvent, 'seq' | 'ts'> & { runId: string };

interface Live {
  events: RunEvent[];
  /** Of the events, as they are stored. */
  chars: number;
  unsaved: Written[];
  /** Not published yet: the end of a step or run, an approval request, and what came after it wait until they are stored. */
  unpublished: Written[];
  /** Whether the log has said that it is full. */
  saidFull: boolean;
}

const END_EVENT = /_(completed|stopped|escalated|aborted|failed|cancelled|skipped)$|^approval_requested$/;
const isEnd = (event: string): boolean => END_EVENT.test(event);
/** Agents ask, as often as they like. */
const isQuestion = (event: string): boolean => /^approval_(requested|decided|expired)$/.test(event);

/** Characters of the events of all runs together. */
const MAX_ALL_CHARS = getHeapStatistics().heap_size_limit / 16;
/** Characters of each run's where those of all take too much. */
const FEW_CHARS = 64 * 1024;
/** Characters of a message, and of an end for which there is no room any more. */
const MOST_CHARS = 2_000;
const SHORT_CHARS = 100;

/** Characters of an event as JSON, and of one for which there is no room any more; of a longer one the fields that are small are kept. */
const MOST_LINE_CHARS = 128 * 1024;
const SHORT_LINE_CHARS = 4 * 1024;
const SMALL_FIELD_CHARS = 500;
const smallOf = (fields: Record<string, unknown> = {}) =>
  Object.fromEntries(Object.entries(fields).filter((field) => JSON.stringify(field).length <= SMALL_FIELD_CHARS));

function writtenOf({ seq, ts, runId }: Place, said: Said, most: number): Written {
  const { level, event: name, msg, fields } = said;
  const event: RunEvent = { seq, ts, level, event: name, msg, run_id: runId, ...fields };
  const json = JSON.stringify(event);
  if (json.length <= most) return { event, json };
  return writtenOf({ seq, ts, runId }, { ...said, fields: smallOf(fields) }, Infinity);
}

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

const packed = (written: readonly Written[]): PackedEvents | null => {
  const [first] = written;
  return first ? { firstSeq: first.event.seq, json: `[${written.map(({ json }) => json).join()}]` } : null;
};

/** Live events in memory, ended ones from the store, one numbering for both (Orchestration 6). */
export function createEventHub(deps: EventHubDeps): EventHub {
  const live = new Map<string, Live>();
  let chars = 0;
  const hasRoom = (run: Live, times: number): boolean =>
    run.events.length < times * MAX_EVENTS &&
    run.chars < times * (chars > (deps.maxChars ?? MAX_ALL_CHARS) ? FEW_CHARS : MAX_EVENT_CHARS);
  const forget = (runId: string) => {
    chars -= live.get(runId)?.chars ?? 0;
    live.delete(runId);
  };
  const textOf = rememberedText();
  const listeners = new Map<string, Set<Listener>>();
  const publish = (runId: string, frame: RunFrame) => {
    for (const listener of listeners.get(runId) ?? []) listener(frame);
  };
  const announce = (runId: string, { event, json }: Written) => {
    deps.observe(event, json);
    publish(runId, event);
  };
  return {
    open: (runId, stored) => {
      const run: Live = {
        events: [...stored],
        chars: 0,
        unsaved: [],
        unpublished: [],
        saidFull: stored.some(isFullNote),
      };
      forget(runId);
      live.set(runId, run);
      const count = (json: string) => {
        run.chars += json.length;
        if (live.get(runId) === run) chars += json.length;
      };
      if (stored.length > 0) count(JSON.stringify(stored));
      const put = (said: Said, most: number) => {
        const seq = (run.events.at(-1)?.seq ?? 0) + 1;
        const written = writtenOf({ seq, ts: textOf(deps.now()), runId }, said, most);
        const { event: entry } = written;
        run.events.push(entry);
        count(written.json);
        run.unsaved.push(written);
        deps.trace?.(runId, entry);
        if (run.unpublished.length > 0 || isEnd(entry.event)) run.unpublished.push(written);
        else announce(runId, written);
      };
      return {
        add: (level, event, msg, fields) => {
          if (hasRoom(run, level === 'info' ? 1 : 2))
            return put({ level, event, msg: cutShort(msg, MOST_CHARS), fields }, MOST_LINE_CHARS);
          if (isQuestion(event) ? hasRoom(run, 4) : isEnd(event))
            return put({ level, event, msg: cutShort(msg, SHORT_CHARS), fields }, SHORT_LINE_CHARS);
          if (run.saidFull) return undefined;
          run.saidFull = true;
          const full = 'the log is full; only ends, warnings and errors follow';
          return put({ level: 'warn', event: FULL, msg: full }, SHORT_LINE_CHARS);
        },
        take: () => packed(run.unsaved.splice(0)),
        mark: () => run.events.at(-1)?.seq ?? 0,
        stored: (mark) => {
          const later = run.unpublished.findIndex(({ event }) => event.seq > mark);
          for (const written of run.unpublished.splice(0, later === -1 ? run.unpublished.length : later))
            announce(runId, written);
        },
      };
    },
    close: (runId, status) => {
      forget(runId);
      publish(runId, { type: 'run_complete', status });
      listeners.delete(runId);
    },
    drop: forget,
    isLive: (runId) => live.has(runId),
    chars: () => chars,
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
      const held = run.unpublished[0]?.event.seq ?? Infinity;
      return Promise.resolve(run.events.filter(({ seq }) => seq > afterSeq && seq < held));
    },
  };
}
