import { expect, test } from 'vitest';
import { AGENT_STEP, pipelineOf, row, rows, stepOf } from './readiness.fixture.ts';
import type { EvidenceRow } from './executions.ts';
import { percent } from './words.ts';

const marks = (correct: number, incorrect: number): EvidenceRow[] => [
  ...rows(correct, { stepOutcome: 'correct' }),
  ...rows(incorrect, { stepOutcome: 'incorrect' }),
];

test.each([
  [{ accuracy: {} }, marks(7, 0), 'Accuracy: not enough yet; 7 of 20 marked results; 13 more to go.'],
  [
    { accuracy: {} },
    marks(15, 5),
    'Accuracy: not ready; 75% right in 20 marked results (15 correct, 0 partial, 5 incorrect), 85% needed. 14 correct marks in a row would reach it.',
  ],
  [
    { accuracy: { min_accuracy: 1, min_marked: 2 } },
    marks(1, 1),
    'Accuracy: not ready; 50% right in 2 marked results (1 correct, 0 partial, 1 incorrect), 100% needed. Only another prompt or agent version, which starts with new evidence, can reach that.',
  ],
  [
    { operational: { min_runs: 3 } },
    rows(2),
    'Operational: not enough yet; 2 of 3 runs; 1 more to go. So far none failed.',
  ],
  [{ operational: { min_runs: 1 } }, rows(1), 'Operational: ready; 1 run, none failed: 100% went well, 95% needed.'],
  [
    { confidence: { min_runs: 2 } },
    [row(), row({ confidence: 0.1 })],
    'Confidence: not ready; 1 of 2 answers reached the threshold: 50%, 80% needed. 3 sure answers in a row would reach it.',
  ],
  [
    { calibration: { n_min: 10 } },
    marks(4, 0),
    'Calibration: not enough yet; no range of confidence has 10 marked results yet; the fullest has 4, 6 more to go.',
  ],
  [
    { calibration: { n_min: 2 } },
    marks(1, 1),
    'Calibration: not ready; answers that claim 80% are right in 50% of 2 marked results: 30 points too sure, at most 15 allowed.',
  ],
])('%j is told as it is', (readiness, given, expected) => {
  expect(stepOf({ pipeline: pipelineOf(readiness), rows: given }).narrative).toEqual([expected]);
});

test('as many good ones as are said do reach it', () => {
  const asked = pipelineOf({ accuracy: {} });
  const verdict = (given: EvidenceRow[]) => stepOf({ pipeline: asked, rows: given }).tiers.accuracy.verdict;
  expect(verdict([...marks(15, 5), ...marks(13, 0)])).toBe('not_ready');
  expect(verdict([...marks(15, 5), ...marks(14, 0)])).toBe('ready');
});

test('a step that has not run says when it would', () => {
  const rare = pipelineOf({ operational: {} }, [{ ...AGENT_STEP, when: 'severity == "critical"' }]);
  expect(stepOf({ pipeline: rare, rows: [] }).narrative).toEqual([
    'No run with the present prompt and agent version has reached this step at stage testing; the step runs only when severity == "critical".',
  ]);
});

test('where labels come from is noted', () => {
  const given = [row({ checkFailed: true }), ...rows(2, { runOutcome: 'correct', agentVersion: 'v1', model: 'other' })];
  expect(stepOf({ pipeline: pipelineOf({ accuracy: {} }), rows: given }).notes).toEqual([
    'The backend does not say which version of the agent is in force; that of the newest execution is taken.',
    '2 models answered; their results are taken together.',
    '1 label comes from failed checks; a passed check gives none.',
    '2 labels are marks of whole runs, not of this step.',
  ]);
});

test.each([
  [0.9496, '94.9%'],
  [0.95, '95%'],
  [17 / 20, '85%'],
  [1, '100%'],
  [0.99999, '99.9%'],
  [0.29, '29%'],
])('a share of %f is told as %s', (share, text) => expect(percent(share)).toBe(text));
