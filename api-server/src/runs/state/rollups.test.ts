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
  groundingScore: null,
  deterministicPassed: null,
};
const ANSWER = {
  part: 'answer' as const,
  executor: 'gateway' as const,
  agent: 'a',
  model: 'm',
  provider: 'x',
  inputTokens: 10,
  outputTokens: 3,
  cachedInputTokens: 0,
  cost: null,
  source: null,
};
const WHO = ['p', 'look', 'gateway', 'a', 'm', 'x'];

test('a production step adds its end, its time and its tokens, under the name of its family', () => {
  expect(stepCounters(STEP, [ANSWER])).toEqual([
    { metric: 'pipeline_steps_total', labels: [...WHO, 'completed'], value: 1 },
    { metric: 'pipeline_step_duration_seconds', labels: [...WHO, '5'], value: 1 },
    { metric: 'pipeline_step_duration_seconds_sum', labels: WHO, value: 5 },
    { metric: 'pipeline_tokens_total', labels: ['shop', ...WHO, 'input'], value: 10 },
    { metric: 'pipeline_tokens_total', labels: ['shop', ...WHO, 'output'], value: 3 },
  ]);
});

test('tokens of a second opinion count under the name of whom was asked, and cached ones in a series of their own', () => {
  const verifier = { ...ANSWER, part: 'verifier' as const, agent: 'reviewer', model: 'v', cachedInputTokens: 4 };
  const who = ['shop', 'p', 'look', 'gateway', 'reviewer', 'v', 'x'];
  expect(stepCounters(STEP, [ANSWER, verifier]).slice(-3)).toEqual([
    { metric: 'pipeline_tokens_total', labels: [...who, 'input'], value: 10 },
    { metric: 'pipeline_tokens_total', labels: [...who, 'output'], value: 3 },
    { metric: 'pipeline_cached_input_tokens_total', labels: who, value: 4 },
  ]);
});

test('testing and skipped steps add nothing, and a testing run neither', () => {
  expect(stepCounters({ ...STEP, stage: 'testing' }, [ANSWER])).toEqual([]);
  expect(stepCounters({ ...STEP, status: 'skipped' }, [ANSWER])).toEqual([]);
  expect(runCounters({ stage: 'testing', pipeline: 'p', status: 'completed' })).toEqual([]);
  expect(runCounters({ stage: 'production', pipeline: 'p', status: 'completed' })).toHaveLength(1);
});
