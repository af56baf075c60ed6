import { afterEach, beforeEach, expect, test } from 'vitest';
import fc from 'fast-check';
import type { Window } from '../../analytics/window.ts';
import { openTestStore, type TestStore } from '../../web/fixtures/store.ts';
import { HOUR_MS } from '../../runs/state/hourly.ts';
import { runPercentiles, stepPercentile } from './percentiles.ts';
import { sumRuns } from './run-sums.ts';
import { sumSteps } from './step-sums.ts';

let store: TestStore;
beforeEach(async () => {
  store = await openTestStore();
});
afterEach(() => store.close());

const START = Date.parse('2026-11-20T00:00:00Z');
const at = fc.integer({ min: 0, max: 6 * HOUR_MS }).map((after) => START + after);
const History = fc.array(
  fc.record({
    at: fc.oneof(at, fc.constantFrom(START, START + HOUR_MS, START + HOUR_MS - 1)),
    took: fc.integer({ min: 0, max: 9_000 }),
    pipeline: fc.constantFrom('a', 'b'),
    status: fc.constantFrom('completed', 'failed', 'running'),
    stage: fc.constantFrom('production', 'testing'),
    team: fc.constantFrom(null, 'x'),
    cost: fc.constantFrom(null, 0, 0.25),
    tokens: fc.constantFrom(null, 7),
    step: fc.constantFrom('look', 'look2', 'look/0', 'look/13', 'look-on'),
    kind: fc.constantFrom('step', 'fan_out'),
  }),
  { minLength: 30, maxLength: 30 },
);
const bound = fc.option(fc.oneof(at, fc.constantFrom(START + HOUR_MS, START + 2 * HOUR_MS)));
const Windows = fc.array(fc.record({ from: bound, to: bound }), { minLength: 40, maxLength: 40 });

const inside = ({ from, to }: Window, time: number) => (from === null || time >= from) && (to === null || time < to);
const total = <T>(items: T[], pick: (item: T) => number) => items.reduce((sum, item) => sum + pick(item), 0);
/** The smallest that 95 of 100 do not exceed, by counting. */
const p95 = (values: number[]) =>
  values
    .toSorted((a, b) => a - b)
    .find((value) => values.filter((other) => other <= value).length * 100 >= values.length * 95);

test('sums and percentiles of any window are those of exactly its rows, to the millisecond', async () => {
  const [history] = fc.sample(History, { numRuns: 1, seed: 7 }) as [
    typeof History extends fc.Arbitrary<infer T> ? T : never,
  ];
  for (const [n, one] of history.entries()) {
    const ended = one.status === 'running' ? null : one.at + one.took;
    const id = await store.addRun(n, {
      pipeline_name: one.pipeline,
      status: one.status,
      stage: one.stage,
      team: one.team,
      triggered_at: one.at,
      completed_at: ended,
    });
    await store.addStep(id, one.step, {
      kind: one.kind,
      pipeline_name: one.pipeline,
      status: one.status,
      stage: one.stage,
      team: one.team,
      started_at: one.at,
      completed_at: ended,
      input_tokens: one.tokens,
      output_tokens: null,
      cost: one.cost,
      cost_source: one.cost === null ? null : 'manual',
    });
  }
  const { db } = store.database;
  for (const window of fc.sample(Windows, { numRuns: 1, seed: 7 })[0] ?? []) {
    const scope = { window, stages: ['production'] as const };
    const rows = history.filter(
      (one) => one.status !== 'running' && one.stage === 'production' && inside(window, one.at),
    );
    const runs = await sumRuns(db, scope);
    expect([total(runs, (sum) => sum.runs), total(runs, (sum) => sum.durationMs)]).toEqual([
      rows.length,
      total(rows, ({ took }) => took),
    ]);
    const ofB = rows.filter(({ pipeline }) => pipeline === 'b');
    expect(total(await sumRuns(db, { ...scope, pipeline: 'b', bucketMs: HOUR_MS }), (sum) => sum.runs)).toBe(
      ofB.length,
    );
    const durations = Object.fromEntries(
      (await runPercentiles(db, scope, ['pipeline'])).pipeline.map(({ of, seconds }) => [of, seconds * 1000]),
    );
    expect(durations['b']).toBe(p95(ofB.map(({ took }) => took)));

    const executions = rows.filter(({ kind }) => kind === 'step');
    const steps = await sumSteps(db, scope, ['pipeline', 'team', 'costSource']);
    expect([
      total(steps, (sum) => sum.executions),
      total(steps, (sum) => sum.inputTokens),
      total(steps, (sum) => sum.cost),
      total(steps, (sum) => sum.unpriced),
      total(steps, (sum) => sum.reporting),
    ]).toEqual([
      executions.length,
      total(executions, ({ tokens }) => tokens ?? 0),
      total(executions, ({ cost }) => cost ?? 0),
      executions.filter(({ cost, tokens }) => cost === null && tokens !== null).length,
      executions.filter(({ tokens }) => tokens !== null).length,
    ]);
    const looks = executions.filter(({ step }) => step === 'look' || step.startsWith('look/'));
    const found = await sumSteps(db, { ...scope, step: 'look', bucketMs: HOUR_MS }, ['step', 'status']);
    expect(total(found, (sum) => sum.executions)).toBe(looks.length);
    expect(new Set(found.map(({ bucket }) => bucket))).toEqual(
      new Set(looks.map((one) => one.at - (one.at % HOUR_MS))),
    );
    const slowest = await stepPercentile(db, { ...scope, step: 'look' });
    expect(slowest === null ? undefined : slowest * 1000).toBe(p95(looks.map(({ took }) => took)));
  }
});
