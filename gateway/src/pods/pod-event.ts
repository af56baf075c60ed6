import { type AgentEvent, valuesIn } from '@signalbox/crds';
import type { RunEvent } from '../runs/run-event.ts';
import { MAX_NAME_CHARS } from '../tools/tool.ts';

const MAX_INPUT_CHARS = 100_000;
const MAX_INPUT_VALUES = 10_000;

/** The fields of events that a pod may say, and how many characters each may have; of what is no text, as JSON. */
const MOST_CHARS: Readonly<Record<string, number>> = {
  event: 100,
  iteration: 100,
  model: 500,
  provider: 500,
  usage: 500,
  duration_ms: 100,
  call_id: 1_000,
  server: MAX_NAME_CHARS,
  tool: MAX_NAME_CHARS,
  is_error: 100,
  reason: 4_000,
  approved: 100,
  decided_by: 500,
};

/** An event of a pod as one that fits a frame whatever the pod says: known fields, with texts cut. `resultMaxChars`: of a result. */
export function podEvent(event: AgentEvent, resultMaxChars: number): RunEvent {
  // A runner puts a sign behind what it cut.
  const large = event.event === 'tool_result' ? { result: resultMaxChars + 1 } : { input: MAX_INPUT_CHARS };
  const most = { ...MOST_CHARS, ...large };
  const fields = Object.entries(most).map(([name, chars]) => [name, bounded(event[name], chars)]);
  return Object.fromEntries(fields) as RunEvent;
}

function bounded(value: unknown, chars: number): unknown {
  if (typeof value === 'string') return value.length <= chars ? value : `${value.slice(0, chars)}…`;
  const json = JSON.stringify(value) ?? '';
  return json.length <= chars && valuesIn(json) <= MAX_INPUT_VALUES
    ? value
    : `[cut: ${json.length} characters of JSON]`;
}
