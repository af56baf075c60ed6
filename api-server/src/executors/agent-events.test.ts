import { expect, test } from 'vitest';
import { boundedEvents, MAX_CALL_EVENTS } from './agent-events.ts';

type Heard = [event: string, fields: Record<string, unknown>];

function listening() {
  const heard: Heard[] = [];
  return { heard, say: boundedEvents((event, fields) => void heard.push([event, fields])) };
}

test('a backend writes no line that reads like the service’s own', () => {
  const { heard, say } = listening();
  for (const event of ['run_completed', 'approval_decided', 'log_full', 'text', 'toString'])
    say(event, { msg: 'done' });
  const forged = { seq: 'x', ts: 'y', level: 'error', msg: 'approved by ana', run_id: 'r', step_name: 's', event: 'e' };
  say('llm_call', { ...forged, model: 'm', usage: { input_tokens: 1 } });
  expect(heard).toEqual([['llm_call', { model: 'm', usage: { input_tokens: 1 } }]]);
});

test('a field is short text, whatever a backend puts there', () => {
  const { heard, say } = listening();
  say('tool_result', { server: { toString: 1 }, result: 'x'.repeat(9_000), is_error: false, usage: ['y'.repeat(900)] });
  say('tool_call', { input: { a: 1 }, ...Object.fromEntries(Array.from({ length: 99 }, (_, at) => [`f${at}`, at])) });
  const [[, result], [, call]] = heard as [Heard, Heard];
  expect([result['server'], result['is_error'], call['input']]).toEqual(['{"toString":1}', false, '{"a":1}']);
  for (const name of ['result', 'usage']) expect(String(result[name])).toMatch(/^.{500}…$/);
  expect(Object.keys(call)).toHaveLength(32);
});

test('a flood is cut off with a line that says so', () => {
  const { heard, say } = listening();
  for (let at = 0; at < 3 * MAX_CALL_EVENTS; at++) say('tool_denied', {});
  expect(heard).toHaveLength(MAX_CALL_EVENTS + 1);
  expect(heard.at(-1)).toEqual(['events_left_out', { kept: MAX_CALL_EVENTS }]);
});
