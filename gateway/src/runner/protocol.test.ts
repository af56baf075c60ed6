import { expect, test } from 'vitest';
import { GenerateAsk, RunnerState } from './protocol.ts';

test('a pod that says it has tools without end is refused by their number, not by each of them', () => {
  const tools = Array.from({ length: 100_000 }, () => ({}));
  expect(RunnerState.safeParse({ draining: false, tools }).error?.issues).toHaveLength(1);
});

const text = { type: 'text', text: 'go' };
const prompt = [{ role: 'user', content: [text] }];
const many = <Value>(count: number, value: Value) => Array.from({ length: count }, () => value);
const nothing = Object.fromEntries(many(50_000, 0).map((value, index) => [`p${index}`, value]));

/** The problems of what a runner says to a model. */
const problemsOf = (call: object) =>
  GenerateAsk.safeParse({ run: 'run-1', ask: 1, call: { prompt, tools: [], ...call } }).error?.issues ?? [];

test.each([
  ['messages', { prompt: many(9_000, {}) }],
  ['messages in number', { prompt: many(10_001, prompt[0]) }],
  ['tools', { tools: many(9_000, 1) }],
  ['tools in number', { tools: many(100_000, {}) }],
  ['texts', { prompt: [{ role: 'user', content: many(40_000, {}) }] }],
  ['parts', { prompt: [{ role: 'assistant', content: many(40_000, {}) }] }],
  ['results', { prompt: [{ role: 'tool', content: many(40_000, {}) }] }],
  ['options', { prompt: [{ role: 'assistant', content: [], providerOptions: nothing }] }],
  ['options of a part', { prompt: [{ role: 'assistant', content: [{ ...text, providerOptions: nothing }] }] }],
])('of many %s that do not fit one problem is described', (_, call) => {
  expect(problemsOf(call)).toHaveLength(1);
});

test('a prompt of a thousand turns is read', () => {
  const call = {
    type: 'tool-call',
    toolCallId: 'c1',
    toolName: 'get',
    input: { a: 1 },
    providerOptions: { p: { s: 1 } },
  };
  const result = { type: 'tool-result', toolCallId: 'c1', toolName: 'get', output: { type: 'text', value: 'done' } };
  const turns = many(1_000, [
    { role: 'assistant', content: [{ ...text, type: 'reasoning' }, call], providerOptions: { signalbox: { by: 'p' } } },
    { role: 'tool', content: [result] },
  ]);
  const tools = many(5_000, { type: 'function', name: 'get', description: '', inputSchema: { type: 'object' } });
  const said = { prompt: [{ role: 'system', content: 'Be brief.' }, ...prompt, ...turns.flat()], tools };
  expect(GenerateAsk.parse({ run: 'run-1', ask: 1, call: said }).call).toEqual(said);
});
