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
])('the size of %s is that of its program, about', (source) => {
  const size = RE2JS.compile(source).programSize();
  expect(patternSize(source)).toBeGreaterThan(size / 3);
  expect(patternSize(source)).toBeLessThan(size * 3);
});

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
