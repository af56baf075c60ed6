/** A line of a step's trace from the gateway. Fields of other types are left empty. */
export interface TraceLine {
  type: string;
  startedAt: number | null;
  seconds: number;
  /** Empty where the backend writes none. */
  callId: string;
  tool: string;
  server: string;
  model: string;
  input: unknown;
  result: string;
  /** Null where the entry does not say. */
  failed: boolean | null;
  reason: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const positive = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;

function lineOf(entry: unknown): TraceLine | null {
  if (typeof entry !== 'object' || entry === null) return null;
  const fields = entry as Record<string, unknown>;
  const started = Date.parse(text(fields['started_at']));
  return {
    type: text(fields['type']),
    startedAt: Number.isNaN(started) ? null : started,
    seconds: positive(fields['duration_ms']) / 1000,
    callId: text(fields['call_id']),
    tool: text(fields['tool']),
    server: text(fields['server']),
    model: text(fields['model']),
    input: fields['input'],
    result: text(fields['result']),
    failed: typeof fields['is_error'] === 'boolean' ? fields['is_error'] : null,
    reason: text(fields['reason']),
  };
}

/** Lines of a trace on a page: a backend writes what it likes. */
export const MOST_LINES = 1_000;

/** The valid lines of a trace, as many as a page reads; other entries are ignored. */
export const readTrace = (trace: unknown): TraceLine[] =>
  Array.isArray(trace)
    ? trace
        .slice(0, MOST_LINES)
        .map(lineOf)
        .filter((line) => line !== null)
    : [];

/** How many entries of a trace no page reads. */
export const unreadLines = (trace: unknown): number =>
  Array.isArray(trace) ? Math.max(0, trace.length - MOST_LINES) : 0;
