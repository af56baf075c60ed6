import fc from 'fast-check';
import { expect, test } from 'vitest';
import { askedWords, hasWords, wordsOf, wordsOfRun } from './words.ts';

const found = (text: string, asked: string) => hasWords(wordsOf([text]), askedWords(asked));

test.each([
  ['KubePodCrashLooping', 'crash', true],
  ['KubePodCrashLooping', 'CRASHLOOP', true],
  ['KubePodCrashLooping', 'kubepodcrash', true],
  ['KubePodCrashLooping', 'ashloop', false],
  ['CPUThrottlingHigh', 'throttling cpu', true],
  ['checkout-api on node_17.example.com', 'node 17 exam', true],
  ['checkout-api', 'checkout_api', true],
  ['Überlast in Köln', 'uberl koln', true],
  ['Uberlast', 'Ü', true],
  ['磁盘 满', '磁', true],
  ['disk is full', 'disk broken', false],
])('%s, asked for %s: %s', (text, asked, expected) => expect(found(text, asked)).toBe(expected));

test('an id is found by its beginning, with or without hyphens, and by nothing in its middle', () => {
  const words = wordsOfRun({
    id: '0192f3c4-5b6a-7123-8123-123456789abc',
    pipeline_name: 'disk',
    summary: null,
    labels: { alertname: 'DiskFull', n: 5 },
  });
  const finds = (asked: string) => hasWords(words, askedWords(asked));
  const whole = '0192f3c4-5b6a-7123-8123-123456789abc';
  expect(['0192f3c4', '0192F3C4-5b', '0192f3c45b6a71', whole, 'full', '5'].filter((asked) => !finds(asked))).toEqual(
    [],
  );
  expect(['5b6a', '7123-8123', '0192f3c4-6'].filter(finds)).toEqual([]);
});

test('whatever is asked has a bounded number of words, each of letters and digits', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
      const words = askedWords(text);
      expect(words.length).toBeLessThanOrEqual(16);
      for (const word of words) expect(word).toMatch(/^[\p{L}\p{N}]{1,64}$/u);
    }),
  );
});

test('a text is found by each of its words', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
      expect(hasWords(wordsOf([text]), askedWords(text))).toBe(true);
    }),
  );
});

test.each([
  ['a letter that stands for eighteen', '\ufdfa'.repeat(1365)],
  ['words of one letter', 'a b c d '.repeat(512)],
  ['letters with accents', `a${'\u0301\u0316'.repeat(1020)}`],
])('64 labels that are full of %s hold up nothing', (_, value) => {
  const labels = Object.fromEntries(Array.from({ length: 64 }, (__, at) => [`k${at}`, value]));
  const run = { id: '0192f3c4', pipeline_name: 'disk', summary: value, labels: { alertname: 'DiskFull', ...labels } };
  const took = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    wordsOfRun(run);
    return process.cpuUsage(before).user / 1000;
  });
  // Of a busy machine the quietest try counts.
  expect(Math.min(...took)).toBeLessThan(50);
});
