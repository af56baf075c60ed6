import { MAX_FRAME_VALUES, valuesIn } from '@signalbox/crds';
import type { RunEvent } from './run-event.ts';

/** A character may take six bytes as JSON. */
const MAX_SHOWN_CHARS = 100_000;
const MAX_SHOWN_VALUES = MAX_FRAME_VALUES / 2;

/** An event that fits a frame: the input of a tool call is left out where it is too large. */
export function shownEvent(event: RunEvent): RunEvent {
  if (event.event !== 'tool_call') return event;
  const json = JSON.stringify(event.input) ?? '';
  const fits = json.length <= MAX_SHOWN_CHARS && valuesIn(json) <= MAX_SHOWN_VALUES;
  return fits ? event : { ...event, input: `[cut: ${json.length} characters of JSON]` };
}
