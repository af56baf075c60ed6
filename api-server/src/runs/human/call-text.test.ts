import { expect, test } from 'vitest';
import { callText, indentedJson, readableJson, readableText } from './call-text.ts';

const nested = (value: unknown, levels: number): unknown => (levels === 0 ? value : nested([value], levels - 1));

test.each([
  ['a change of direction', '\u202Eexe.fdp', '"\\u202eexe.fdp"'],
  ['a space of no width', 'prod\u200B', '"prod\\u200b"'],
  ['letters that no font shows', 'a\u{E0041}', '"a\\udb40\\udc41"'],
  ['a control that no font shows', 'prod\u0085\u007F', '"prod\\u0085\\u007f"'],
  ['other scripts', 'größe 数据 👍', '"größe 数据 👍"'],
])('%s in the input of a tool is readable', (_, input, shown) => {
  expect(readableJson(input)).toBe(shown);
  expect(JSON.parse(readableJson(input))).toBe(input);
});

test('a call is shown with its tool', () => {
  expect(callText({ server: 'shell', tool: 'run', input: { command: 'id' } })).toBe('shell/run?\n{"command":"id"}');
});

test.each([
  ['an ordinary call', { kind: 'Deployment', pods: [{ name: 'a', ports: [] }], replicas: 2 }],
  ['a short list that is deep', nested([1, 2], 20)],
  ['a long list of words', Array.from({ length: 20_000 }, (_, at) => `checkout-${at}`)],
])('%s has a line for each value', (_, input) => {
  expect(indentedJson(input)).toBe(JSON.stringify(input, null, 2));
});

test('a list that indentation would make fifty times as long stays on one line, and is whole', () => {
  const input = nested(Array(20_000).fill(1), 58);
  expect(JSON.stringify(input, null, 2).length).toBeGreaterThan(2_000_000);
  expect(indentedJson(input)).toBe(JSON.stringify(input));
});

test('what turns the direction of a question is readable, words and emoji stay as they are', () => {
  expect(readableText('Restart \u202Etest-yap\u2066?\n⚠️ 👩‍💻 می‌خواهم')).toBe(
    'Restart \\u202etest-yap\\u2066?\n⚠️ 👩‍💻 می‌خواهم',
  );
});
