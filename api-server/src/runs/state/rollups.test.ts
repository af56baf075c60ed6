import { expect, test } from 'vitest';
import { runCounters, stepCounters } from './rollups.ts';

const STEP = {
  stage: 'production' as const,
  team: 'shop',
  pipelineName: 'p',
  stepName: 'look/3',
  executor: 'gateway' as const,
  agent: 'a',
  model: 'm',
  provider: 'x',
  status: 'completed' as const,
  startedAt: 0,
  completedAt: 5000,
  inputTokens: 10,
  outputTokens: 3,
  groundingScore: null,
  deterministicPassed: null,
};
const WHO = ['p', 'look', 'gateway', 'a', 'm', 'x'];

test('a production step adds its end, its time and its tokens, under the name of its family', () => {
  expect(stepCounters(STEP)).toEqual([
    { metric: 'pipeline_steps_total', labels: [...WHO, 'completed'], value: 1 },
    { metric: 'pipeline_step_duration_seconds', labels: [...WHO, '5'], value: 1 },
    { metric: 'pipeline_step_duration_seconds_sum', labels: WHO, value: 5 },
    { metric: 'pipeline_tokens_total', labels: ['shop', ...WHO, 'input'], value: 10 },
    { metric: 'pipeline_tokens_total', labels: ['shop', ...WHO, 'output'], value: 3 },
  ]);
});

test('testing and skipped steps add nothing, and a testing run neither', () => {
  expect(stepCounters({ ...STEP, stage: 'testing' })).toEqual([]);
  expect(stepCounters({ ...STEP, status: 'skipped' })).toEqual([]);
  expect(runCounters({ stage: 'testing', pipeline: 'p', status: 'completed' })).toEqual([]);
  expect(runCounters({ stage: 'production', pipeline: 'p', status: 'completed' })).toHaveLength(1);
});
