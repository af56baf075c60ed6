/** Events of the protocol that a person would read in a run's log. The run itself says the others; unknown ones could pass for its own. */
const SHOWN = new Set([
  'queued',
  'started',
  'llm_call',
  'llm_retry',
  'model_fallback',
  'tool_call',
  'tool_result',
  'tool_denied',
]);
/** What a line of the log says by itself. */
const OWN = new Set(['seq', 'ts', 'level', 'event', 'msg', 'run_id', 'step_name']);
/** Events of one call that are kept. */
export const MAX_CALL_EVENTS = 1_000;
const MAX_CHARS = 500;
const MAX_FIELDS = 32;

type Fields = Record<string, unknown>;
type OnEvent = (event: string, fields: Fields) => void;

/** Passes on what a backend says of a call while it goes on: known events within bounds, whose fields are data. */
export function boundedEvents(onEvent: OnEvent): OnEvent {
  let count = 0;
  return (event, fields) => {
    if (!SHOWN.has(event) || count > MAX_CALL_EVENTS) return;
    count += 1;
    if (count > MAX_CALL_EVENTS) onEvent('events_left_out', { kept: MAX_CALL_EVENTS });
    else onEvent(event, shown(fields));
  };
}

const shown = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => !OWN.has(name))
      .slice(0, MAX_FIELDS)
      .map(([name, value]) => [cut(name), shownValue(name, value)]),
  );

function shownValue(name: string, value: unknown): unknown {
  if (typeof value === 'string') return cut(value);
  if (typeof value !== 'object' || value === null) return value;
  const json = JSON.stringify(value);
  return name === 'usage' && json.length <= MAX_CHARS ? value : cut(json);
}

const cut = (text: string): string => (text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text);
