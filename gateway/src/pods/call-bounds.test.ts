import { expect, test } from 'vitest';
import { withRun } from '../testing/hosted-run.ts';

let asks = 0;
const named = { call_id: 'c1', server: 'k8s' };
const call = (input = '{}') => ({ ask: (asks += 1), ...named, tool: 'get', input });
const question = { run_id: 'run-1', agent: 'far', ...named, tool: 'exec', input: {} };

test.each([
  ['name of a tool', { tool: 'x'.repeat(257) }],
  ['name of a server', { server: 'x'.repeat(65) }],
  ['id', { call_id: 'x'.repeat(10_001) }],
])('nothing is decided about a call with a longer %s than any call has, and nobody is asked', (_, long) =>
  withRun(async ({ ask, asked }) => {
    for (const method of ['tool.authorize', 'tool.call'])
      expect(await ask(method, { ...call(), ...long })).toBe('invalid_params');
    expect(await ask('tool.request_approval', { ...question, ...long })).toBe('invalid_params');
    expect(asked).toEqual([]);
  }),
);

test.each([
  ['longer', JSON.stringify('x'.repeat(4 * 1024 * 1024))],
  ['of more values', `{"a":[${'{},'.repeat(30_000)}0]}`],
])('nor about one whose arguments are %s than a model may say', (_, input) =>
  withRun(async ({ ask, reached }) => {
    for (const method of ['tool.authorize', 'tool.call']) expect(await ask(method, call(input))).toBe('invalid_params');
    expect(reached).toEqual([]);
  }),
);

test('a call with a long text in its arguments is made, whatever signs it has', () =>
  withRun(async ({ ask }) => {
    const input = JSON.stringify({ text: '[{,'.repeat(60_000) });
    expect(await ask('tool.call', call(input))).toMatchObject({ kind: 'ok' });
  }));

test('the values of the arguments of a call, which are JSON within a text, count as held for its run', () =>
  withRun(async (world) => {
    const open = world.ask('tool.call', call(`{"a":[${'{},'.repeat(1_000)}0]}`));
    expect(world.held()).toBeGreaterThan(80_000);
    await open;
    expect(world.held()).toBeLessThan(1_000);
  }));
