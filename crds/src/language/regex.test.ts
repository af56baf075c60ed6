import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuTimeOf } from './cpu-time.fixture.ts';
import { compileRegex } from './regex.ts';

test.each<[string, string, boolean]>([
  ['^Checkout', 'CheckoutErrors', true],
  ['out', 'CheckoutErrors', true],
  ['(?i)^checkout$', 'CHECKOUT', true],
  ['^$', '', true],
  ['a|b', 'c', false],
])('%s on %j: %s', (source, text, found) => {
  const compiled = compileRegex(source);
  expect(compiled.ok && compiled.test(text)).toBe(found);
});

test.each([
  '(',
  '(?=x)',
  '(a)\\1',
  '[z-a]',
  'x'.repeat(1001),
  '(((((a{1000}){1000}){1000}){1000}){1000}){1000}',
  `(?i)[${'B-\u{1e942}'.repeat(240)}]`,
  `\\Q[\\E${'a{1000}'.repeat(100)}]`,
  `(?:${'y'.repeat(900)})\\Q\\E{1000}`,
  `(?:${'y'.repeat(900)})(?i){1000}`,
  `(?:${'y'.repeat(900)}[](]){1000}`,
])('%.30s is refused', (source) => {
  const compile = () => expect(compileRegex(source)).toMatchObject({ ok: false, msg: expect.any(String) as string });
  expect(cpuTimeOf(compile)).toBeLessThan(300);
});

test.each(['^(a+)+$', '(a|a)*$', '(.*)*x', '(a?){50}a{50}$', '(.{0,200}){5}x'])('%s stays linear', (source) => {
  const compiled = compileRegex(source);
  const run = () => void (compiled.ok && compiled.test(`${'a'.repeat(20_000)}!`));
  expect(cpuTimeOf(run)).toBeLessThan(3000);
});

test('any source compiles or is refused', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (source, text) => {
      const compiled = compileRegex(source);
      if (compiled.ok) expect(typeof compiled.test(text)).toBe('boolean');
    }),
  );
});
