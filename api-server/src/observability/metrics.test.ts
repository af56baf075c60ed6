import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { attentionFamilies } from './attention.ts';
import { renderFamilies } from './exposition.ts';
import { createMetrics } from './metrics.ts';
import { STORED_SERIES } from './series.ts';
import { createStoredSeries } from './stored-series.ts';

interface StoredValue {
  metric: string;
  labels: string[];
  value: number;
}
const rowsOf = (stored: readonly StoredValue[]) =>
  stored.map(({ labels, ...rest }) => ({ ...rest, labels: JSON.stringify(labels) }));
const textOf = (stored: readonly StoredValue[]) => {
  const series = createStoredSeries();
  series.take(rowsOf(stored));
  return wordsOf(series);
};
const wordsOf = async (series: ReturnType<typeof createStoredSeries>) => Buffer.concat(await series.bytes()).toString();

const metricsOf = (
  stored: StoredValue[],
  pending = new Map<string, number>(),
  read: () => Promise<unknown> = () => Promise.resolve(),
) =>
  createMetrics({
    readCounters: async function* () {
      await read();
      yield rowsOf(stored);
    },
    runsInProgress: () => Promise.resolve(2),
    undelivered: () => Promise.resolve([]),
    openAttention: () => Promise.resolve([]),
    approvalsPending: () => pending,
    teamBudgets: { shop: 10, idle: 5 },
    now: () => Date.parse('2026-11-30T23:59:59Z'),
    sources: ['generic'],
  });

/** The series and labels of Orchestration 6, written down once more. */
const SPEC: Record<string, string> = {
  pipeline_runs_total: 'counter pipeline,status',
  pipeline_steps_total: 'counter pipeline,step_name,executor,agent,model,provider,status',
  pipeline_step_duration_seconds: 'histogram pipeline,step_name,executor,agent,model,provider',
  verifier_runs_total: 'counter agent',
  verifier_overrides_total: 'counter agent',
  pipeline_tokens_total: 'counter team,pipeline,step_name,executor,agent,model,provider,direction',
  human_approval_decisions_total: 'counter team,pipeline,decision',
  pipeline_feedback_total: 'counter pipeline,outcome',
  step_feedback_total: 'counter pipeline,step_name,agent,model,provider,outcome',
  step_grounding_score: 'histogram pipeline,step_name,agent,model,provider',
  step_deterministic_check_total: 'counter pipeline,step_name,outcome',
  pipeline_cost_total: 'counter pipeline,team,model,provider,source',
  runs_resumed_total: 'counter pipeline',
  replay_batches_total: 'counter step_name',
  replay_steps_total: 'counter step_name,grade',
};

test('every series of the requirement is there with its type and labels', () => {
  const served = Object.fromEntries(STORED_SERIES.map(({ name, type, labels }) => [name, `${type} ${labels.join()}`]));
  expect(served).toMatchObject(SPEC);
});

describe('a histogram', () => {
  const who = ['checkout', 'look', 'gateway', 'a', '', ''];
  const stored = [
    { metric: 'pipeline_step_duration_seconds', labels: [...who, '+Inf'], value: 1 },
    { metric: 'pipeline_step_duration_seconds', labels: [...who, '1'], value: 2 },
    { metric: 'pipeline_step_duration_seconds', labels: [...who, '30'], value: 3 },
    { metric: 'pipeline_step_duration_seconds_sum', labels: who, value: 1250.5 },
  ];
  const labels = 'pipeline="checkout",step_name="look",executor="gateway",agent="a",model="",provider=""';

  test('is cumulative and ends at +Inf with its count', async () => {
    const text = await textOf(stored);
    const buckets = [...text.matchAll(/duration_seconds_bucket\{.*le="(.*)"\} (\d+)/g)].map(
      ([, le, value]) => `${le}:${value}`,
    );
    expect(buckets).toEqual([
      '1:2',
      '2:2',
      '5:2',
      '10:2',
      '30:5',
      '60:5',
      '120:5',
      '300:5',
      '600:5',
      '1200:5',
      '+Inf:6',
    ]);
    expect(text).toContain(`service_pipeline_step_duration_seconds_sum{${labels}} 1250.5\n`);
    expect(text).toContain(`service_pipeline_step_duration_seconds_count{${labels}} 6\n`);
  });

  test('without values has its HELP and TYPE only', async () => {
    expect(await textOf(stored)).toContain(
      '# TYPE service_step_grounding_score histogram\n# HELP service_step_deterministic_check_total',
    );
  });
});

const label = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('\\', '"', '\n', 'n', '}') }));

test('every sample line can be read back, whatever a label says', async () => {
  await fc.assert(
    fc.asyncProperty(label, label, fc.double({ noNaN: true }), async (pipeline, status, value) => {
      const text = await textOf([{ metric: 'pipeline_runs_total', labels: [pipeline, status], value }]);
      const lines = text.split('\n').filter((line) => line.startsWith('service_pipeline_runs_total{'));
      expect(lines).toHaveLength(1);
      const [, a = '', b = '', number] =
        /^service_pipeline_runs_total\{pipeline="((?:[^"\\]|\\[\\n"])*)",status="((?:[^"\\]|\\[\\n"])*)"\} (\S+)$/su.exec(
          lines[0] ?? '',
        ) ?? [];
      const read = (escaped: string) => escaped.replace(/\\(.)/gs, (_, sign: string) => (sign === 'n' ? '\n' : sign));
      expect([read(a), read(b)]).toEqual([pipeline, status]);
      expect(Number(number?.replace('Inf', 'Infinity')) === value).toBe(true);
    }),
  );
});

test('what only this process knows stands beside the stored series', async () => {
  const metrics = metricsOf([], new Map([['payments', 2]]));
  metrics.countAuthFailure('missing');
  metrics.countDelivery('generic', 'accepted');
  metrics.countDelivery('made up', 'invalid');
  metrics.countDelivery(null, 'invalid');
  const text = String(await metrics.render());
  expect(text).toContain('service_pipeline_runs_in_progress 2\n');
  expect(text).toContain('service_human_approvals_pending{team="payments"} 2\n');
  expect(text).toContain('service_auth_failures_total{reason="missing"} 1\n');
  expect(text).toContain('service_auth_failures_total{reason="forbidden"} 0\n');
  expect(text).toContain('service_webhook_deliveries_total{source="generic",outcome="accepted"} 1\n');
  expect(text).toContain('service_webhook_deliveries_total{source="unknown",outcome="invalid"} 2\n');
});

test('the processor time is that of the whole process, not of what came after the first scrape', async () => {
  const before = process.cpuUsage();
  const text = String(await metricsOf([]).render());
  const seconds = (name: string) => Number(new RegExp(`^process_cpu_${name} (\\S+)$`, 'm').exec(text)?.[1]);
  expect(seconds('user_seconds_total')).toBeGreaterThanOrEqual(before.user / 1e6);
  expect(seconds('system_seconds_total')).toBeGreaterThanOrEqual(before.system / 1e6);
  expect(seconds('seconds_total')).toBeGreaterThanOrEqual((before.user + before.system) / 1e6);
});

test('a later scrape says what a first one of the same rows would say, however the rows come', async () => {
  const series = fc.constantFrom(...STORED_SERIES);
  const Row = fc
    .tuple(series, fc.constantFrom('a', 'b'), fc.constantFrom('1', '0.5', '+Inf'), fc.integer({ min: 0, max: 5 }))
    .map(([{ name, type, labels }, value, le, n]) => {
      const own = labels.map(() => value);
      if (type === 'counter') return { metric: name, labels: own, value: n };
      return le === '0.5'
        ? { metric: `${name}_sum`, labels: own, value: n }
        : { metric: name, labels: [...own, le], value: n };
    });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(Row, { maxLength: 12 }), { maxLength: 4 }), async (scrapes) => {
      const kept = createStoredSeries();
      const stored = new Map<string, StoredValue>();
      for (const scrape of scrapes) {
        for (const row of scrape) stored.set(JSON.stringify([row.metric, row.labels]), row);
        for (const row of stored.values()) kept.take(rowsOf([row]));
        const expected = await textOf([...stored.values()]);
        expect((await wordsOf(kept)).split('\n').toSorted()).toEqual(expected.split('\n').toSorted());
      }
    }),
  );
});

test('of more series than the text has room for, those that came first are served whole, and the others are counted', async () => {
  const series = createStoredSeries(1_000);
  const ended = (pipeline: string, value: number) => ({
    metric: 'pipeline_runs_total',
    labels: [pipeline, 'completed'],
    value,
  });
  series.take(rowsOf(Array.from({ length: 100 }, (_, n) => ended(`p${n}`, 1))));
  series.take(rowsOf([ended('p0', 2), ended('p99', 2)]));
  const lines = (await wordsOf(series)).split('\n').filter((line) => line.startsWith('service_pipeline_runs_total{'));
  expect(lines[0]).toBe('service_pipeline_runs_total{pipeline="p0",status="completed"} 2');
  expect(lines.join('\n').length).toBeLessThan(1_000);
  expect(series.leftOut()).toBe(100 - lines.length);
});

test('no line and no family stands twice', async () => {
  const text = String(await metricsOf([{ metric: 'runs_resumed_total', labels: ['checkout'], value: 1 }]).render());
  const types = text.split('\n').filter((line) => line.startsWith('# TYPE'));
  expect(new Set(types).size).toBe(types.length);
  expect(text.endsWith('\n')).toBe(true);
});

test('team_budget_ratio: this month over the budget, for teams that have one', async () => {
  const spent = (team: string, month: string, value: number) => ({
    metric: 'team_spend',
    labels: [team, month],
    value,
  });
  const spending = [spent('shop', '2026-10', 100), spent('shop', '2026-11', 2.5), spent('other', '2026-11', 9)];
  const text = String(await metricsOf(spending).render());
  const lines = text.split('\n').filter((line) => line.startsWith('service_team_'));
  expect(lines).toEqual(['service_team_budget_ratio{team="shop"} 0.25', 'service_team_budget_ratio{team="idle"} 0']);
  expect(text).not.toContain('team_spend');
});

test('runs that wait for people are counted by team, with the age of the oldest', async () => {
  const now = Date.parse('2026-11-30T23:59:59Z');
  const families = attentionFamilies([{ team: 'shop', runs: 3, since: now - 90_000 }], now);
  expect(renderFamilies(families)).toContain('service_attention_open{team="shop"} 3');
  expect(renderFamilies(families)).toContain('service_attention_age_seconds{team="shop"} 90');
  expect(renderFamilies(attentionFamilies([], now))).toContain('service_attention_open{team=""} 0');
});

test('who asks while a scrape is made gets the next one, together with all others who do', async () => {
  let begun = 0;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const scraped = metricsOf([], new Map(), () => {
    begun += 1;
    return released;
  });
  const first = scraped.render();
  await vi.waitFor(() => expect(begun).toBe(1));
  const others = Array.from({ length: 50 }, () => scraped.render());
  release();
  const texts = await Promise.all([first, ...others]);
  expect(begun).toBe(2);
  expect(new Set(texts).size).toBe(2);
});
