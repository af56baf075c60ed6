import { startOf, type TraceEntry, valuesIn } from '@signalbox/crds';

/** An answer and its trace share a frame. */
const MAX_BYTES = 512 * 1024;
const MAX_VALUES = 25_000;
/** With entries that have lost their input and result. */
const MAX_BARE_BYTES = 768 * 1024;
/** With such entries of tools that have none yet. */
const MAX_FIRST_BYTES = 832 * 1024;
/** And with the names alone of further tools. */
const MAX_NAMED_BYTES = 896 * 1024;
/** Of one such entry; a thousand of them fit a frame. */
const BARE_BYTES = 4_000;
const BARE_VALUES = 20;
const MAX_ENTRIES = 500;
/** Room that calls and model calls do not take. */
const MAX_WITH_REFUSALS = 600;
/** With the first entry of each tool. */
const MAX_WITH_FIRSTS = 1_000;
const REASON_CHARS = 200;
const CUT = '[cut: the trace is full]';
/** Tools whose first entries have no room: those of one type count as one tool. */
const OTHERS = 'other tools';
const REFUSALS: ReadonlySet<string> = new Set(['tool_denied', 'approval']);

/** The server of a call to a tool that no server offers; no real one has this name. */
export const NO_SERVER = '?';

/** What happened in a run, bounded: texts cut to what the caller asked for, the whole to what fits a frame. */
export class Trace {
  /** Inputs as JSON texts: parsed, small objects take ten times as much, for as long as a run waits. */
  private readonly kept: TraceEntry[] = [];
  /** The last kept entry of each type and tool. */
  private readonly last = new Map<string, TraceEntry>();
  private readonly textMaxChars: number;
  private bytes = 0;
  private values = 0;
  private isCut = false;

  constructor(textMaxChars: number) {
    this.textMaxChars = textMaxChars;
  }

  /** Whether something of an entry, or an entry, is left out. */
  get wasCut(): boolean {
    return this.isCut;
  }

  /** What does not fit loses its input and result; without a place it is counted with the last one of its type and tool. */
  add(entry: TraceEntry): void {
    const key = keyOf(entry);
    const last = this.last.get(key);
    const kept = this.kept.length < placesFor(entry, last) ? this.asFits(entry, last) : null;
    if (kept) return this.keep(key, kept);
    this.isCut = true;
    if (last) countOn(last);
    else this.addToOthers(entry);
  }

  entries(): TraceEntry[] {
    return this.kept.map((entry) =>
      typeof entry.input === 'string' ? { ...entry, input: JSON.parse(entry.input) as unknown } : entry,
    );
  }

  cut(text: string): string {
    return text.length <= this.textMaxChars ? text : `${text.slice(0, this.textMaxChars)}…`;
  }

  private keep(key: string, entry: TraceEntry): void {
    this.kept.push(entry);
    this.last.set(key, entry);
  }

  private asFits(entry: TraceEntry, last: TraceEntry | undefined): TraceEntry | null {
    const whole = this.whole(entry) ?? this.short(bareEntry(entry), last ? MAX_BARE_BYTES : MAX_FIRST_BYTES);
    return whole ?? (last ? null : this.short(namedEntry(entry), MAX_NAMED_BYTES));
  }

  private addToOthers({ type, started_at }: TraceEntry): void {
    const key = `${type} ${OTHERS}`;
    const last = this.last.get(key);
    if (last) return countOn(last);
    const entry = namedEntry({ type, started_at, duration_ms: 0, server: NO_SERVER, tool: OTHERS });
    const kept = this.short(entry, Infinity);
    if (kept) this.keep(key, kept);
  }

  private whole(entry: TraceEntry): TraceEntry | null {
    const input = entry.input === undefined ? undefined : JSON.stringify(entry.input);
    const rest = JSON.stringify({ ...entry, input: undefined });
    const bytes = this.bytes + Buffer.byteLength(rest) + Buffer.byteLength(input ?? '');
    if (bytes > MAX_BYTES) return null;
    const values = this.values + valuesIn(rest) + valuesIn(input ?? '');
    if (values > MAX_VALUES) return null;
    this.bytes = bytes;
    this.values = values;
    return { ...entry, input };
  }

  private short(entry: TraceEntry, maxBytes: number): TraceEntry | null {
    const json = JSON.stringify(entry);
    const size = Buffer.byteLength(json);
    if (size > BARE_BYTES || valuesIn(json) > BARE_VALUES || this.bytes + size > maxBytes) return null;
    this.isCut = true;
    this.bytes += size;
    return entry;
  }
}

/** Which call it was and how it ended, without what was said in it. */
export function bareEntry({ input, result, reason, ...entry }: TraceEntry): TraceEntry {
  return {
    ...entry,
    ...((input !== undefined || result !== undefined) && { result: CUT }),
    ...(typeof reason === 'string' && { reason: startOf(reason, REASON_CHARS) }),
  };
}

/** That a tool was called, or refused, or asked about. */
const namedEntry = ({ type, started_at, duration_ms, server, tool, is_error }: TraceEntry): TraceEntry => ({
  type,
  started_at,
  duration_ms,
  server,
  tool,
  is_error,
  ...(type === 'tool_call' && { result: CUT }),
});

function countOn(last: TraceEntry): void {
  last.left_out = (last.left_out ?? 0) + 1;
}

/** A model can invent names of tools: those count as one. */
const keyOf = ({ type, server = '', tool = '' }: TraceEntry): string =>
  server === NO_SERVER ? `${type} ${server}` : `${type} ${server}/${tool}`;

function placesFor({ type }: TraceEntry, last: TraceEntry | undefined): number {
  if (!last) return MAX_WITH_FIRSTS;
  return REFUSALS.has(type) ? MAX_WITH_REFUSALS : MAX_ENTRIES;
}
