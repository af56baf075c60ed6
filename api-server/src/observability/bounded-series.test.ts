import { expect, test } from 'vitest';
import { stepCounters } from '../runs/state/rollups.ts';
import { boundedSeries } from './bounded-series.ts';
import { STORED_SERIES } from './series.ts';
import { sizeOf } from './stored-series.ts';

/** Names of one step make about 8,000 characters in all series. */
const MOST = { all: 500_000, ofOwner: 160_000 };
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

test('however a tenant names its steps and agents, and however many series it fills, their text has an end', () => {
  const found = seriesAfter(boundOf(), ['shop'], 200);
  const sizes = [...found.values()].map(({ size }) => size);
  expect(Math.max(...sizes)).toBeLessThan(80);
  expect(Math.min(...sizes)).toBeGreaterThan(10);
  const text = STORED_SERIES.flatMap((series) =>
    [...(found.get(series.type === 'histogram' ? `${series.name}_sum` : series.name) ?? [])].map((labels) =>
      sizeOf(series, labels),
    ),
  );
  expect(text.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST.ofOwner * 1.2);
  const further = 'shop,other,gateway,other,other,other';
  expect(found.get('pipeline_steps_total')).toContain(`${further},completed`);
  expect(found.get('pipeline_step_duration_seconds')).toContain(`${further},1`);
});

test('a namespace leaves room for others, and its many pipelines share a name', () => {
  const series = boundOf();
  const shops = upTo(200).map((n) => `shop${n}`);
  seriesAfter(series, shops, 1);
  const steps = seriesAfter(series, ['bank', 'own'], 15).get('pipeline_steps_total');
  expect([...(steps ?? [])].filter((labels) => labels.includes('other'))).toEqual([]);
  const last = series.bound(countersOf('shop199', 0)[0]!);
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
