import fc from 'fast-check';
import { expect, test } from 'vitest';
import { effectiveConfidence, gate, trustOf, type Evidence } from './gate.ts';

const NONE: Evidence = { confidence: null, verifier: null, calibrated: null, grounding: null, checksPassed: null };
const rule = { threshold: 0.75, onLow: 'escalate' as const, confidenceOf: 'the agent' };

test.each<[string, Partial<Evidence>, number | null]>([
  ['the confidence alone', { confidence: 0.9 }, 0.9],
  ['a verifier that is less sure lowers it', { confidence: 0.9, verifier: 0.6 }, 0.6],
  ['a verifier that is surer changes nothing', { confidence: 0.7, verifier: 0.95 }, 0.7],
  ['grounding in shadow mode changes nothing', { confidence: 0.9, grounding: { score: 0.2, enforced: false } }, 0.9],
  ['enforced grounding lowers it', { confidence: 0.9, grounding: { score: 0.2, enforced: true } }, 0.2],
  [
    'enforced grounding without a score changes nothing',
    { confidence: 0.9, grounding: { score: null, enforced: true } },
    0.9,
  ],
  [
    'an enforced calibrated mean takes its place',
    { confidence: 0.9, calibrated: { value: 0.55, enforced: true } },
    0.55,
  ],
  [
    'a calibrated mean in shadow mode changes nothing',
    { confidence: 0.9, calibrated: { value: 0.55, enforced: false } },
    0.9,
  ],
  ['an unvalidated calibration changes nothing', { confidence: 0.9, calibrated: { value: null, enforced: true } }, 0.9],
  ['a failed check is zero whatever else is said', { confidence: 1, checksPassed: false }, 0],
  ['passed checks add nothing', { confidence: 0.4, checksPassed: true }, 0.4],
  ['no confidence, no trust', {}, null],
])('trust: %s', (_, evidence, trust) => {
  expect(trustOf({ ...NONE, ...evidence })).toBe(trust);
});

test('trust at the threshold passes, below it the rule acts and says so', () => {
  expect(gate({ ...NONE, confidence: 0.75 }, rule)).toMatchObject({ passed: true, action: 'pass' });
  const low = gate({ ...NONE, confidence: 0.74 }, rule);
  expect(low).toMatchObject({ passed: false, action: 'escalate', trust: 0.74, threshold: 0.75 });
  expect(low.sentence).toContain('the run is escalated');
});

test('a step without a confidence passes no gate and fails none', () => {
  expect(gate(NONE, rule)).toMatchObject({ passed: null, action: 'pass' });
});

test('no verifier, whatever it says, raises the confidence', () => {
  const ratio = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(ratio, ratio, (confidence, verifier) => {
      expect(effectiveConfidence({ ...NONE, confidence, verifier })).toBeLessThanOrEqual(confidence);
    }),
  );
});
