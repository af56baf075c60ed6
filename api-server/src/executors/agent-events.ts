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
const TOOL_EVENTS = new Set(['tool_call', 'tool_result']);
/** What a line of the log says by itself. */
const OWN = new Set(['seq', 'ts', 'level', 'event', 'msg', 'run_id', 'step_name']);
/** Events of one call that are kept. */
export const MAX_CALL_EVENTS = 1_000;
const MAX_CHARS = 500;
const MAX_FIELDS = 32;

/** Further ones: refusals, and the first call and result of each tool. */
const MORE_REFUSALS = 100;
const MORE_FIRSTS = 200;
/** Tools whose events that are left out are counted apart, and how long their names may be. */
const MOST_TOOLS = 20;
const MAX_SUBJECT = 200;

type Fields = Record<string, unknown>;
type OnEvent = (event: string, fields: Fields) => void;

/**
 * Passes on what a backend says of a call while it goes on: known events within bounds, whose fields are data. `end` says what was
 * left out.
 */
export function boundedEvents(onEvent: OnEvent): { onEvent: OnEvent; end: () => void } {
  const leftOut = new Map<string, number>();
  const firsts = new Set<string>();
  let kept = 0;
  let refusals = 0;
  const hasRoom = (event: string, subject: string): boolean => {
    if (kept < MAX_CALL_EVENTS) return true;
    if (event === 'tool_denied') return (refusals += 1) <= MORE_REFUSALS;
    return TOOL_EVENTS.has(event) && !firsts.has(`${event} ${subject}`) && firsts.size < MORE_FIRSTS;
  };
  return {
    onEvent: (event, fields) => {
      if (!SHOWN.has(event)) return;
      const subject = subjectOf(event, fields);
      if (hasRoom(event, subject)) {
        kept += 1;
        if (TOOL_EVENTS.has(event) && firsts.size < MORE_FIRSTS) firsts.add(`${event} ${subject}`);
        return onEvent(event, shown(fields));
      }
      if (leftOut.size === 0) onEvent('events_left_out', { kept });
      const counted = leftOut.has(subject) || leftOut.size < MOST_TOOLS ? subject : 'other tools';
      leftOut.set(counted, (leftOut.get(counted) ?? 0) + 1);
    },
    end: () => {
      if (leftOut.size === 0) return;
      const counts = [...leftOut].map(([subject, count]) => `${count} of ${subject}`);
      onEvent('events_left_out', { kept, left_out: counts.join(', ') });
    },
  };
}

/** What events that are left out are counted by. */
function subjectOf(event: string, { server, tool }: Fields): string {
  if (event === 'tool_denied') return 'denied calls';
  if (!TOOL_EVENTS.has(event)) return 'other events';
  const isShort = isText(server) && isText(tool) && server.length + tool.length <= MAX_SUBJECT;
  return isShort ? `${server}/${tool}` : 'tools with long names';
}

const isText = (value: unknown): value is string => typeof value === 'string';

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
