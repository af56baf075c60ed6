import { expect, test } from 'vitest';
import { callText, readableJson, readableLine, readableText } from './call-text.ts';

test.each([
  ['a change of direction', '\u202Eexe.fdp', '"\\u202eexe.fdp"'],
  ['a space of no width', 'prod\u200B', '"prod\\u200b"'],
  ['letters that no font shows', 'a\u{E0041}', '"a\\udb40\\udc41"'],
  ['a control that no font shows', 'prod\u0085\u007F', '"prod\\u0085\\u007f"'],
  ['a space that looks like another', 'a\u00A0b\u3000\uFFFC', '"a\\u00a0b\\u3000\\ufffc"'],
  ['other scripts', 'größe 数据 👍', '"größe 数据 👍"'],
])('%s in the input of a tool is readable', (_, input, shown) => {
  expect(readableJson(input)).toBe(shown);
  expect(JSON.parse(readableJson(input))).toBe(input);
});

test.each([
  ['a change of direction', 'a\u202Eb', 'a<\\u202e>b'],
  ['letters that no font shows', 'a\u{E0041}\u200B', 'a<\\udb40\\udc41\\u200b>'],
  ['controls', '\ta\u0000\u0085\r', '<\\t>a<\\u0000\\u0085\\r>'],
  ['half a character', 'a\uD83D', 'a<\\ud83d>'],
  ['spaces at the end', ' a b  ', ' a b<\\u0020\\u0020>'],
  ['spaces that look like another', 'a\u00A0b\u3000\uFFFC', 'a<\\u00a0>b<\\u3000\\ufffc>'],
  ['text that looks like an escape', 'a\\u202e', 'a\\u202e'],
  ['nothing', '', ''],
])('%s in a line of an input is an escape beside its text', (_, line, shown) => {
  expect(
    readableLine(line)
      .map(({ text, escape }) => (escape ? `<${text}>` : text))
      .join(''),
  ).toBe(shown);
});

test('many spaces in a line take no time', () => {
  const before = process.threadCpuUsage();
  readableLine(`${' '.repeat(80_000)}a`);
  expect(process.threadCpuUsage(before).user).toBeLessThan(200_000);
});

test('a call is shown with its tool', () => {
  expect(callText({ server: 'shell', tool: 'run', input: { command: 'id' } })).toBe('shell/run?\n{"command":"id"}');
});

test('what turns the direction of a question is readable, words and emoji stay as they are', () => {
  expect(readableText('Restart \u202Etest-yap\u2066?\n⚠️ 👩‍💻 می‌خواهم')).toBe(
    'Restart \\u202etest-yap\\u2066?\n⚠️ 👩‍💻 می‌خواهم',
  );
});
