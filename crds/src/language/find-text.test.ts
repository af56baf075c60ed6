import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuTimeOf } from './cpu-time.fixture.ts';
import { compileExpression } from './expression.ts';
import { findText, splitText } from './find-text.ts';
import { compileMatch } from './match.ts';

const repetitive = (unit: string, length: number): string => unit.repeat(length).slice(0, length);
const HALF = 220_000;

test('long texts are searched and split as the engine does it', () => {
  const few = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 });
  fc.assert(
    fc.property(few, few, few, (before, unit, after) => {
      const wanted = `${repetitive(`a${unit}`, 1100)}b`;
      const text = `${before}${repetitive(`a${unit}`, 1300)}${wanted}${after}${wanted.slice(1)}`;
      expect(findText(text, wanted)).toBe(text.indexOf(wanted));
      expect(findText(text, `${wanted}c`)).toBe(-1);
      expect(splitText(text, wanted)).toEqual(text.split(wanted));
    }),
  );
});

test.each<[string, string, string, unknown]>([
  ['contains', repetitive('a', 440_000), `${'a'.repeat(HALF)}b`, false],
  ['contains', repetitive('a', 440_000), `b${'a'.repeat(HALF)}`, false],
  ['contains', repetitive('a', 440_000), `${'a'.repeat(HALF / 2)}b${'a'.repeat(HALF / 2)}`, false],
  ['contains', repetitive('ab', 440_000), `${repetitive('ab', HALF)}b`, false],
  ['indexOf', repetitive('a', 440_000), `b${'a'.repeat(HALF)}`, -1],
  ['split', repetitive('a', 200_000), `b${'a'.repeat(100_000)}`, [repetitive('a', 200_000)]],
])('%s of a long repetitive text is answered in linear time', (method, summary, service, expected) => {
  const compiled = compileExpression(`summary.${method}(labels.service)`);
  if (!compiled.ok) throw new Error(compiled.msg);
  let result: unknown;
  const spent = cpuTimeOf(() => (result = compiled.expression.evaluate({ summary, labels: { service } })));
  expect(result).toEqual({ ok: true, value: expected });
  expect(spent).toBeLessThan(1000);
});

test('an expression refuses to match a pattern with a text longer than 16384 characters', () => {
  const compiled = compileExpression('summary.matches("^x")');
  const on = (summary: string) => compiled.ok && compiled.expression.evaluate({ summary });
  expect(on('x'.repeat(16_384))).toEqual({ ok: true, value: true });
  expect(on('x'.repeat(16_385))).toMatchObject({
    ok: false,
    reason: 'limit',
    msg: expect.stringMatching(/16384/) as string,
  });
});

test('a rule with a pattern never matches a text longer than 16384 characters, other rules read all of it', () => {
  const holds = (rule: unknown, length: number) =>
    compileMatch({ summary: rule }).matches({ summary: 'x'.repeat(length) });
  expect([16_384, 16_385].map((length) => holds({ regex: '^x+$' }, length))).toEqual([true, false]);
  expect(holds('x'.repeat(20_000), 20_000)).toBe(true);
});
