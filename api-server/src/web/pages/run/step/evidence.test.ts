import { expect, test } from 'vitest';
import { stepDetail, trustReport } from '../../fixtures/runs.ts';
import { evidenceView } from './evidence.ts';

test('all signals share one axis with the threshold', () => {
  const view = evidenceView(stepDetail());
  expect(view).toMatchObject({
    verdict: { word: 'Passed the gate', tone: 'good' },
    trust: { value: '0.86', width: '86.00%' },
    threshold: { value: '0.75', x: '75.00%' },
  });
  expect(view.signals.map(({ label, value, shadow }) => [label, value, shadow])).toEqual([
    ['Confidence', '0.91', false],
    ['Verifier', '0.86', false],
    ['Grounding', '0.70', true],
    ['Checks', '1/1', false],
  ]);
});

test.each([
  ['escalate', 'escalated'],
  ['abort', 'bad'],
  ['proceed', 'quiet'],
] as const)('a gate that was not passed with %s reads %s', (action, tone) => {
  expect(evidenceView(stepDetail({ trust_report: trustReport({ passed: false, action }) })).verdict.tone).toBe(tone);
});

test.each([
  [{ status: 'running' }, 'still running'],
  [{ status: 'skipped' }, 'skipped'],
  [{ status: 'failed', error: { type: 'timeout', message: 'after 300 s' } }, 'failed before'],
  [{ status: 'completed' }, 'passes no gate'],
] as const)('a step without evidence says why: %j', (fields, words) => {
  expect(evidenceView(stepDetail({ trust_report: null, ...fields })).sentence).toContain(words);
});
