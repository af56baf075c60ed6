import type { RunEvent } from '../runs/run-event.ts';

/** A character may take six bytes as JSON. */
const MAX_SHOWN_CHARS = 100_000;

/** An event as events that each fit a frame: text in pieces, the input of a tool call left out where it is too large. */
export function eventParts(event: RunEvent): RunEvent[] {
  if (event.event === 'text' && event.text.length > MAX_SHOWN_CHARS)
    return piecesOf(event.text).map((text) => ({ ...event, text }));
  if (event.event !== 'tool_call') return [event];
  const chars = JSON.stringify(event.input)?.length ?? 0;
  return chars <= MAX_SHOWN_CHARS ? [event] : [{ ...event, input: `[cut: ${chars} characters of JSON]` }];
}

function piecesOf(text: string): string[] {
  const count = Math.ceil(text.length / MAX_SHOWN_CHARS);
  return Array.from({ length: count }, (_, at) => text.slice(at * MAX_SHOWN_CHARS, (at + 1) * MAX_SHOWN_CHARS));
}
