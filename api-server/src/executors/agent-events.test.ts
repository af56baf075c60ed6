import { expect, test, vi } from 'vitest';
import { boundedEvents, MAX_CALL_EVENTS } from './agent-events.ts';

type Heard = [event: string, fields: Record<string, unknown>];

function listening() {
  const heard: Heard[] = [];
  const { onEvent: say, end } = boundedEvents((event, fields) => void heard.push([event, fields]));
  return { heard, say, end };
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

test('a flood is cut off with a line that says so at once, and one at the end that says what it was', () => {
  const { heard, say, end } = listening();
  for (let at = 0; at < 3 * MAX_CALL_EVENTS; at++) say('llm_retry', {});
  expect(heard).toHaveLength(MAX_CALL_EVENTS + 1);
  expect(heard.at(-1)).toEqual(['events_left_out', { kept: MAX_CALL_EVENTS }]);
  end();
  const left_out = `${2 * MAX_CALL_EVENTS} of other events`;
  expect(heard.at(-1)).toEqual(['events_left_out', { kept: MAX_CALL_EVENTS, left_out }]);
});

test('no flood hides the first call of a tool, nor a hundred refusals, nor how many calls there were of which tool', () => {
  const { heard, say, end } = listening();
  const call = (tool: string) => ({ server: 'k8s', tool });
  for (let at = 0; at < MAX_CALL_EVENTS; at++) say('tool_call', call('get'));
  for (const event of ['tool_call', 'tool_result', 'tool_call']) say(event, call('restart'));
  say('tool_call', call('get'));
  for (let at = 0; at < 110; at++) say('tool_denied', call(`delete${at}`));
  end();
  const later = heard.slice(MAX_CALL_EVENTS);
  expect(later.slice(0, 2)).toEqual([
    ['tool_call', call('restart')],
    ['tool_result', call('restart')],
  ]);
  expect(later.filter(([event]) => event === 'tool_denied')).toHaveLength(100);
  expect(later.at(-1)?.[1]['left_out']).toBe('1 of k8s/restart, 1 of k8s/get, 10 of denied calls');
});

test.each([
  ['invented tools', (at: number) => ({ server: 'own', tool: `t${at}` })],
  ['few tools', (at: number) => ({ server: 'own', tool: `t${at % 40}` })],
  ['tools with long names', (at: number) => ({ server: 'own', tool: `${'x'.repeat(900)}${at}` })],
  ['invented servers', (at: number) => ({ server: `s${at % 63}`, tool: `t${at}` })],
])('a server that tells of %s takes no room from the events of another one', (_, invented) => {
  const { heard, say, end } = listening();
  for (let at = 0; at < 9_000; at++) say(at % 2 === 0 ? 'tool_call' : 'tool_result', invented(at));
  const remove = { server: 'k8s', tool: 'delete' };
  for (const event of ['tool_call', 'tool_result', 'tool_call']) say(event, remove);
  end();
  expect(heard.filter(([, { server }]) => server === 'k8s')).toEqual([
    ['tool_call', remove],
    ['tool_result', remove],
  ]);
  expect(heard.at(-1)?.[1]['left_out']).toContain('1 of k8s/delete');
});

test('a call without a flood has no line about one', () => {
  const { heard, say, end } = listening();
  for (let at = 0; at < MAX_CALL_EVENTS; at++) say('tool_denied', {});
  end();
  expect(heard.every(([event]) => event === 'tool_denied')).toBe(true);
});

test('what a backend invents of tools in a flood stays small', () => {
  const { heard, say, end } = listening();
  const server = { toString: 1 };
  for (let at = 0; at < MAX_CALL_EVENTS; at++) say('started', {});
  for (let at = 0; at < 5_000; at++) say('tool_call', { server: 's'.repeat(150), tool: `${at}` });
  for (let at = 0; at < 5_000; at++) say('tool_call', { server, tool: 'x'.repeat(9_000) });
  end();
  expect(heard.length).toBeLessThan(MAX_CALL_EVENTS + 60);
  expect(JSON.stringify(heard.at(-1)).length).toBeLessThan(5_000);
});

test('the first events of many servers are few, a server that is heard of late has some, and no long names are kept', () => {
  const { heard, say } = listening();
  const added = vi.spyOn(Set.prototype, 'add');
  for (let at = 0; at < MAX_CALL_EVENTS; at++) say('started', {});
  for (let at = 0; at < 62 * 60; at++) say('tool_call', { server: `s${at % 62}`, tool: `${'x'.repeat(240)}${at}` });
  const kept = added.mock.calls.map(([name]) => String(name).length);
  added.mockRestore();
  expect(Math.max(...kept)).toBeLessThan(40);
  expect(heard.length).toBeLessThan(MAX_CALL_EVENTS + 500 + 62 * 10 + 2);
  say('tool_call', { server: 'k8s', tool: 'delete' });
  expect(heard.at(-1)).toEqual(['tool_call', { server: 'k8s', tool: 'delete' }]);
});
