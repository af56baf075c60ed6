import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MRKDWN } from './channels/slack.ts';
import { HTML } from './channels/telegram.ts';
import { clean, type Markup, markUp, plainText } from './fit.ts';
import type { Segment } from './message.ts';

const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.constantFrom(
    '<!channel>',
    '<@U1>',
    '</b><a href="x">',
    '&amp;',
    '{{run.id}}',
    '😀'.repeat(50),
    '\uD800',
    '\u0000\u001B[31m',
  ),
);
const value = hostile.map((text): Segment => ({ kind: 'value', text }));
const strong = hostile.map((text): Segment => ({ kind: 'strong', text }));
const texts = fc.array(fc.oneof(value, strong), { maxLength: 12 });
const small = (markup: Markup, limit: number): Markup => ({ ...markup, limit });
const unescape = (text: string) =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');

test.each([
  ['slack', MRKDWN, /[<>]|&(?!(?:amp|lt|gt);)/],
  ['telegram', HTML, /<(?!\/?b>)|(?<!<\/?b)>|&(?!(?:amp|lt|gt|quot);)/],
] as const)('%s: no value leaves a sign of the markup, however it is cut', (_, markup, forbidden) => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 300 }), (text, limit) => {
      const out = markUp({ text, link: null }, small(markup, limit));
      expect(out).not.toMatch(forbidden);
      expect(out.isWellFormed()).toBe(true);
      expect(out.length).toBeLessThanOrEqual(limit);
    }),
  );
});

test.each([
  ['slack', MRKDWN],
  ['telegram', HTML],
] as const)('%s: what fits arrives letter by letter', (_, markup) => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 6 }), (text) => {
      expect(unescape(markUp({ text, link: null }, small(markup, 100_000)))).toBe(plainText({ text }));
    }),
  );
});

test('the link stays, whatever is cut', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const out = markUp({ text, link: 'https://s.example/ui/runs/1' }, small(MRKDWN, 120));
      expect(out.endsWith('\n<https://s.example/ui/runs/1|Open the run>')).toBe(true);
      expect(out.length).toBeLessThanOrEqual(120);
    }),
  );
});

test('no text is read in another direction than it is written', () => {
  expect(clean('pay \u202Eexe.fdp\u202C, \u2066a\u2069\u200F\u200E\u061C\u0085b\u2028c')).toBe('pay exe.fdp, ab\nc');
  expect(clean('می‌خواهم 👩‍🚒')).toBe('می‌خواهم 👩‍🚒');
});

test('lines and tabs stay, other control characters go', () => {
  expect(clean('a\tb\nc\r\nd\u0000\u0008\u001B\u007F')).toBe('a\tb\nc\r\nd');
});
