import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuTimeOf } from './cpu-time.fixture.ts';
import { compileMatch, type MatchContext } from './match.ts';

const context: MatchContext = {
  source: 'alert_router',
  severity: 'critical',
  summary: null,
  labels: { alertname: 'CheckoutErrors', count: '12', 'a.b': 'dotted', severity: 'from-label', namespace: 'shop' },
  annotations: { runbook: 'http://x' },
  metadata: { status: 'firing', alert_count: 3, alertname: 'from-metadata', nested: { a: 1 } },
};

test.each<[Record<string, unknown>, boolean]>([
  [{}, true],
  [{ severity: 'critical' }, true],
  [{ severity: 'warning' }, false],
  [{ severity: { eq: 'critical' } }, true],
  [{ severity: 'critical', source: 'generic' }, false],
  [{ alertname: 'CheckoutErrors' }, true],
  [{ status: 'firing' }, true],
  [{ 'labels.severity': 'from-label' }, true],
  [{ 'labels.a.b': 'dotted' }, true],
  [{ 'annotations.runbook': { regex: '^http' } }, true],
  [{ 'metadata.alertname': 'from-metadata' }, true],
  [{ count: 12 }, true],
  [{ alert_count: 3 }, true],
  [{ alert_count: '3' }, true],
  [{ namespace: { in: ['shop', 'canary'] } }, true],
  [{ namespace: { not_in: ['shop'] } }, false],
  [{ absent: { not_in: ['shop'] } }, true],
  [{ absent: { ne: 'x' } }, true],
  [{ severity: { ne: 'critical' } }, false],
  [{ absent: 'x' }, false],
  [{ absent: { in: ['x'] } }, false],
  [{ absent: { regex: '.*' } }, false],
  [{ summary: { regex: '' } }, false],
  [{ absent: { lt: 1 } }, false],
  [{ count: { gt: 11 } }, true],
  [{ count: { gte: '12' } }, true],
  [{ count: { lt: 12 } }, false],
  [{ count: { lte: 12 } }, true],
  [{ alertname: { gt: 1 } }, false],
  [{ count: { gt: 'many' } }, false],
  [{ alertname: { regex: 'out' } }, true],
  [{ alert_count: { regex: '^3$' } }, true],
  [{ toString: { ne: 'x' } }, true],
  [{ 'labels.constructor': { regex: '.' } }, false],
])('%j matches: %s', (match, expected) => {
  expect(compileMatch(match).matches(context)).toBe(expected);
});

test.each<[unknown, 'warning' | 'error']>([
  [{ like: 'x' }, 'warning'],
  [{ eq: 'x', ne: 'y' }, 'warning'],
  [{}, 'warning'],
  [['a'], 'warning'],
  [{ in: 'x' }, 'warning'],
  [{ in: Array(1001).fill('critical') }, 'error'],
  [{ eq: {} }, 'warning'],
  [{ regex: '(' }, 'error'],
  [{ regex: '(?=x)' }, 'error'],
])('the rule %j never matches and says so', (rule, severity) => {
  const compiled = compileMatch({ severity: rule });
  expect(compiled.problems).toMatchObject([{ key: 'severity', severity }]);
  expect(compiled.warnings).toHaveLength(1);
  expect(compiled.matches(context)).toBe(false);
});

const scalar = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
const labels = fc.dictionary(fc.string({ minLength: 1 }), fc.string());

test('any rule on any context answers, and a broken rule answers no', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.anything()), labels, (match, found) => {
      const compiled = compileMatch(match);
      const answer = compiled.matches({ labels: found, metadata: found });
      expect(typeof answer).toBe('boolean');
      if (compiled.warnings.length > 0) expect(answer).toBe(false);
    }),
  );
});

test('ne is the opposite of eq and not_in of in, on every label', () => {
  fc.assert(
    fc.property(labels, fc.string({ minLength: 1 }), scalar, (found, key, value) => {
      const is = (rule: unknown) => compileMatch({ [`labels.${key}`]: rule }).matches({ labels: found });
      expect(is({ ne: value })).toBe(!is({ eq: value }));
      expect(is({ not_in: [value] })).toBe(!is({ in: [value] }));
      expect(is({ in: [value] })).toBe(is(value));
    }),
  );
});

test('a text of over a thousand characters is no number, so no alert makes a rule slow', () => {
  const compiled = compileMatch({ summary: { gt: 0 } });
  expect(['1'.repeat(300), '1'.repeat(1001)].map((summary) => compiled.matches({ summary }))).toEqual([true, false]);
});

test('a pattern that blocks a backtracking engine is answered at once', () => {
  const compiled = compileMatch({ summary: { regex: '^(a+)+$' } });
  const match = () => expect(compiled.matches({ summary: `${'a'.repeat(16_000)}!` })).toBe(false);
  expect(cpuTimeOf(match)).toBeLessThan(2000);
});

test('all patterns of a match read so much of a context, and say which of them did not', () => {
  const slow = { regex: '.{0,300}[qr].{0,300}[st]' };
  const text = 'ab'.repeat(700);
  const compiled = compileMatch({ 'labels.a': { regex: '^ab' }, 'labels.b': slow, 'labels.c': slow, 'labels.d': slow });
  const labels = { a: text, b: `${text}qs`, c: `${text}qs`, d: `${text}qs` };
  const tooLong: string[] = [];
  expect(compiled.matches({ labels: { ...labels, c: 'qs', d: 'qs' } }, (key) => tooLong.push(key))).toBe(true);
  expect(compiled.matches({ labels }, (key) => tooLong.push(key))).toBe(false);
  expect(tooLong).toEqual(['labels.c']);
  expect(compiled.compare({ labels }).map(({ key, holds }) => [key, holds])).toEqual([
    ['labels.a', true],
    ['labels.b', true],
    ['labels.c', false],
    ['labels.d', false],
  ]);
  const long = { labels: { a: 'a'.repeat(16_384), b: 'a'.repeat(16_384), c: '', d: '' } };
  expect(cpuTimeOf(() => compiled.matches(long))).toBeLessThan(2000);
});
