import { expect, test } from 'vitest';
import { requireBounded, TOO_LARGE } from './bound-reply.ts';
import type { ModelContent, ModelUsage } from './model.ts';

const usage: ModelUsage = { input: 1, output: 2, cachedInput: null };
const call = (input: string): ModelContent => ({ type: 'tool-call', toolCallId: 'a', toolName: 'look', input });
const check =
  (content: ModelContent[], modelId = 'm-1') =>
  () =>
    requireBounded({ content, usage, modelId });
const LIST = `{"list":[${'{},'.repeat(30_000)}1]}`;

test.each<[string, ModelContent[]]>([
  ['values without end in the arguments of a call', [call(LIST.repeat(2))]],
  ['more values than one answer may have, in two calls', [call(LIST), call(LIST)]],
  ['the same behind a call that opens a string', [call('"'), call(LIST), call(LIST)]],
  ['a text that no model says', [{ type: 'text', text: 'x'.repeat(5_000_000) }]],
  [
    'a signature of a thought',
    [{ type: 'reasoning', text: '', providerMetadata: { p: { signature: 'x'.repeat(5_000_000) } } }],
  ],
])('an answer with %s cannot be used', (_, content) => {
  expect(check(content)).toThrow(expect.objectContaining({ message: TOO_LARGE, retryable: false, usage }));
});

test('an answer of a model with a name without end cannot be used', () => {
  expect(check([], 'm'.repeat(1001))).toThrow(TOO_LARGE);
});

test('a long text in an argument is none, whatever signs it has', () => {
  expect(check([call(JSON.stringify({ text: '[{,\\"'.repeat(100_000) }))])).not.toThrow();
});
