import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { cpuTimeOf } from './cpu-time.fixture.ts';
import { patternSize } from './pattern-size.ts';

test.each([
  'Checkout',
  '^[a-z]{3,20}$',
  '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}',
  '([0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}',
  'a{999}a{999}',
  '(ab(cd){10}){20}',
  '((a{30}){30})x',
  '(\\pL\\d){100,}',
  'a{2}|(b|c){3}|\\{9\\}',
  '\\x{2013}|\\x{2014}',
])('the size of %s is that of its program, about', (source) => {
  const size = RE2JS.compile(source).programSize();
  expect(patternSize(source)).toBeGreaterThan(size / 3);
  expect(patternSize(source)).toBeLessThan(size * 3);
});

test('a pattern that is not compiled for its length is not looked at', () => {
  const long = '(a{1000}'.repeat(500_000);
  expect(cpuTimeOf(() => expect(patternSize(long)).toBe(long.length))).toBeLessThan(50);
});

const LONG = '(?:yyyyyyyyyyyyyyyyyyyy)';

test.each([
  `${LONG}\\Q\\E{50}`,
  `${LONG}(?i){50}`,
  `${LONG}(?){50}`,
  `${LONG}(?s-m){50}`,
  `${LONG}+(?i){50}`,
  `${LONG}??(?i)\\Q\\E{50}`,
  '{00}{99}'.repeat(20),
  '({00}{50}{1,02}{50})',
  '(?:yyyyyyyyyyyyyyyyyyyy[](]){50}',
  '(?:yyyyyyyyyyyyyyyyyyyy[^](]){50}',
  '(?:yyyyyyyyyyyyyyyyyyyy[]-a(]){50}',
  '(?:yyyyyyyyyyyyyyyyyyyy[[:alpha:](]){50}',
  '(?:yyyyyyyyyyyyyyyyyyyy[\\pL-[:^digit:](]){50}',
  '(?:[A-[:alpha:](]yyyyyyyyyyyyyyyyyyyy)){50}',
])('the repetition of %s does not hide', (source) => {
  expect(patternSize(source)).toBeGreaterThan(RE2JS.compile(source).programSize() * 0.9);
});

const GROUPS = [
  '(?:',
  '(',
  '(?P<n>',
  '(?i:',
  ')',
  ')',
  ')',
  '|',
  '(?i)',
  '(?s-m)',
  '(?)',
  '(?:)',
  '()',
  '\\Q',
  '\\E',
  '\\Q\\E',
  '\\Q(',
];
const TIMES = [
  '{30}',
  '{0,30}',
  '{00}',
  '{030}',
  '{1,02}',
  '{0}',
  '{,30}',
  '{30,}',
  '{ 30}',
  '{',
  '}',
  '{1',
  '*',
  '?',
  '+',
];
const ATOMS = [
  'y'.repeat(20),
  '\\pL',
  '\\p{L}',
  '\\p',
  '\\(',
  '\\)',
  '\\',
  '\\b',
  '^',
  '$',
  '\\x{30}',
  '\\x',
  '\\0',
  '-',
  ']',
  '(',
];
const CLASSES = [
  '[](]',
  '[^)]',
  '[^](]',
  '[[:alpha:](]',
  '[A-[:alpha:]',
  '[\\pL-[:alpha:](]',
  '[]-a(]',
  '[--[(]',
  '[',
  '[^',
  '[:alpha:]',
];
const piece = fc.constantFrom(...GROUPS, ...TIMES, ...ATOMS, ...CLASSES);

test('no pattern has a program of more than twice its size', () => {
  const free = fc.array(piece, { minLength: 2, maxLength: 7 }).map((pieces) => pieces.join(''));
  const inside = fc.array(piece, { maxLength: 3 }).map((pieces) => `(?:yyyyyyyyyyyyyyyyyyyy${pieces.join('')}){30}`);
  const behind = fc.array(piece, { maxLength: 3 }).map((pieces) => `${LONG}${pieces.join('')}{30}`);
  fc.assert(
    fc.property(fc.oneof(free, inside, behind), (source) => {
      const size = patternSize(source);
      const compiled = size > 5000 ? null : compiledOrNull(source);
      return compiled === null || compiled.programSize() <= 2 * size + 5;
    }),
    { numRuns: 3000 },
  );
});

function compiledOrNull(source: string): RE2JS | null {
  try {
    return RE2JS.compile(source);
  } catch {
    return null;
  }
}

const FOLDED = 125_000 / 64;

test.each<[string, number]>([
  ['(?i)[B-\u{1e942}]', FOLDED],
  ['(?i)[^B-\u{1e942}]', FOLDED],
  ['x(?s-m:(?mi:[]B-\u{1e942}]))', FOLDED],
  ['(?i)[[:alpha:]B-\\x{1e942}]', FOLDED],
  ['(?i)[\\x42-\\x{1e942}\\102-\u{1e942}]', 2 * FOLDED],
  ['(?i)[\\\\x{1e942}-\u{1e942}]', FOLDED],
  ['(?i)[a-z0-9_.\\-\\w]', 0],
  ['(?i)([B-\u{1e942}]{1000})', FOLDED + 1000],
  ['[B-\u{1e942}]', 0],
  ['[\\pL\\P{Greek}]\\pN', 60],
  ['\\pL{500}', 520],
  ['(?i)[^\\PL\\PN]', 160],
  ['\\Q[\\Ea{1000}]', 1000],
])('%j takes as long as about %d instructions, besides its text', (source, size) => {
  expect(patternSize(source)).toBeGreaterThanOrEqual(Math.floor(size));
  expect(patternSize(source)).toBeLessThan(size + 30);
});

test('a long text with unbalanced brackets is measured in no time', () => {
  expect(patternSize(`${'('.repeat(500)}${'a{1000}'.repeat(70)}`)).toBeGreaterThan(50_000);
});

test.each(['[', '[\\]', '\\p{', '{1', '(', '\\', '[a]', 'a{2}', '\\Q', '(?i', '(?i)\\\\-', '(?i)-\\x{1'])(
  '%j without end is measured in time',
  (piece) => {
    const source = piece.repeat((256 * 1024) / piece.length);
    expect(cpuTimeOf(() => void patternSize(source))).toBeLessThan(1500);
  },
);
