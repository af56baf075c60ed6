import { expect, test } from 'vitest';
import { runCounters, stepCounters } from '../runs/state/rollups.ts';
import { boundedSeries } from './bounded-series.ts';

const MOST = { all: 50, ofOwner: 20 };
const boundOf = () => boundedSeries((pipeline) => (pipeline.startsWith('own') ? null : pipeline.slice(0, 4)), MOST);

const PART = {
  part: 'answer' as const,
  executor: 'gateway' as const,
  cost: null,
  source: null,
  inputTokens: 1,
  outputTokens: 1,
};
const countersOf = (pipelineName: string, n: number) =>
  stepCounters(
    {
      stage: 'production',
      team: 'web',
      pipelineName,
      stepName: `step${n}`,
      executor: 'gateway',
      agent: `agent${n}`,
      model: 'm',
      provider: 'p',
      status: 'completed',
      startedAt: 0,
      completedAt: 1_000,
      groundingScore: 0.5,
      deterministicPassed: true,
    },
    [{ ...PART, agent: `agent${n}`, model: 'm', provider: 'p' }],
  );

const upTo = (n: number) => Array.from({ length: n }, (_, index) => index);
/** The labels that each metric has after so many names. */
function seriesAfter(series: ReturnType<typeof boundOf>, pipelines: readonly string[], names: number) {
  const labels = new Map<string, Set<string>>();
  for (const pipeline of pipelines)
    for (const counter of upTo(names).flatMap((n) => countersOf(pipeline, n))) {
      const bounded = series.bound(counter);
      labels.set(bounded.metric, (labels.get(bounded.metric) ?? new Set()).add(bounded.labels.join()));
    }
  return labels;
}

test('however a tenant names its steps and agents, each series of a step has an end', () => {
  const found = seriesAfter(boundOf(), ['shop'], 200);
  const sizes = Object.fromEntries([...found].map(([metric, labels]) => [metric, labels.size]));
  expect(sizes).toEqual({
    pipeline_steps_total: 21,
    pipeline_step_duration_seconds: 21,
    pipeline_step_duration_seconds_sum: 21,
    step_grounding_score: 21,
    step_grounding_score_sum: 21,
    step_deterministic_check_total: 21,
    pipeline_tokens_total: 42,
  });
  const further = 'shop,other,gateway,other,other,other';
  expect(found.get('pipeline_steps_total')).toContain(`${further},completed`);
  expect(found.get('pipeline_step_duration_seconds')).toContain(`${further},1`);
});

test('a namespace leaves room for others, and its many pipelines share a name', () => {
  const series = boundOf();
  seriesAfter(
    series,
    upTo(30).map((n) => `shop${n}`),
    1,
  );
  const steps = seriesAfter(series, ['bank', 'own'], 15).get('pipeline_steps_total');
  expect([...(steps ?? [])].filter((labels) => labels.includes('other'))).toEqual([]);
  const run = series.bound(runCounters({ stage: 'production', pipeline: 'shop0', status: 'failed' })[0]!);
  expect(run.labels).toEqual(['shop0', 'failed']);
  const last = series.bound(countersOf('shop99', 0)[0]!);
  expect(last.labels).toEqual(['other', 'other', 'gateway', 'other', 'other', 'other', 'completed']);
});

test('names that have series keep them, and those that count as other go on so', () => {
  const [before, after] = [boundOf(), boundOf()];
  const counted = upTo(40).map((n) => before.bound(countersOf('shop', n)[0]!));
  for (const { metric, labels } of counted) after.know(metric, labels);
  expect(upTo(40).map((n) => after.bound(countersOf('shop', n)[0]!))).toEqual(counted);
});

test('a roll-up that is no series is never another', () => {
  const spent = { metric: 'team_spend', labels: ['web', '2026-11'], value: 1 };
  const series = boundedSeries(() => null, { all: 0, ofOwner: 0 });
  expect(series.bound(spent)).toBe(spent);
});
