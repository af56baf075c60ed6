import { expect, test } from 'vitest';
import { AGENT_STEP, evaluate, pipelineOf, row, rows } from './readiness.fixture.ts';
import { verdictReason } from './summary.ts';

const TWO = [AGENT_STEP, { ...AGENT_STEP, name: 'check' }];
const accuracy = { accuracy: { min_marked: 20 } };

test.each([
  [
    'ready',
    { operational: { min_runs: 1 } },
    [row(), row({ stepName: 'check' })],
    'the evidence at stage testing meets every criterion',
  ],
  [
    'building',
    accuracy,
    rows(7, { stepOutcome: 'correct' }),
    'step look, accuracy: 7 of 20 marked results; 13 more to go. 1 more of 2 steps',
  ],
  ['no_data', accuracy, [], 'no step has run at stage testing with its present prompt and agent version'],
  ['not_configured', undefined, rows(3), 'none of 2 steps has readiness criteria'],
  [
    'not_ready',
    { operational: { min_runs: 1 } },
    [row({ status: 'failed' }), row({ stepName: 'check' })],
    'step look, operational: 1 of 1 execution failed: 0% went well, 95% needed. 19 good executions in a row would reach it',
  ],
])('%s is told with its reason', (verdict, readiness, given, expected) => {
  const report = evaluate({ pipeline: pipelineOf(readiness, TWO), rows: given });
  expect(report.verdict).toBe(verdict);
  expect(verdictReason(report)).toBe(expected);
});
