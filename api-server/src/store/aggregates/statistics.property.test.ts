import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pipelineStats } from '../../analytics/pipeline-stats.ts';
import { stepStats } from '../../analytics/step-stats.ts';
import { TIME_RANGES, type Window, windowBefore, windowOf } from '../../analytics/window.ts';
import type { Database } from '../db/database.ts';
import { newTestDatabase } from '../fixtures/test-database.ts';
import { pruneRuns } from '../tables/prune.ts';
import { Change, judge, type KnownRun, NOW, randomHistory, storeRun } from './fixtures/random-history.ts';
import { p95, recountPipeline, recountStep } from './fixtures/recount.ts';
import { checkRollUps } from './roll-up-check.ts';
import { pipelineFacts } from './pipeline-facts.ts';
import { stepFacts } from './step-facts.ts';

const PRUNED_DAYS = 38;
const DAY_MS = 86_400_000;

interface Found {
  runs_total: number;
  status_counts: Record<string, number>;
  tokens: { input: number };
  cost: { total: number | null; unpriced_steps: number };
  duration_seconds: { avg: number | null; p95: number | null };
  accuracy: unknown;
}

function compare(found: Found, expected: ReturnType<typeof recountPipeline>): void {
  const { durations: _, storedDurations, avg, accuracy, ...rest } = expected;
  expect({
    runs: found.runs_total,
    statuses: found.status_counts,
    tokens: found.tokens.input,
    cost: found.cost.total,
    unpriced: found.cost.unpriced_steps,
  }).toEqual(rest);
  expect(found.accuracy).toEqual(accuracy);
  if (avg === null) expect(found.duration_seconds.avg).toBeNull();
  else expect(found.duration_seconds.avg).toBeCloseTo(avg, 9);
  const exact = p95(storedDurations);
  expect(found.duration_seconds.p95).toBe(exact === null ? null : exact / 1000);
}

async function compareAll(database: Database, history: readonly KnownRun[], windows: readonly Window[]): Promise<void> {
  const { db } = database;
  for (const window of windows) {
    const scope = { window, stages: ['production'] as const };
    for (const pipeline of ['checkout', 'payments']) {
      const facts = await pipelineFacts(db, { ...scope, pipeline });
      compare(pipelineStats(pipeline, 'USD', facts), recountPipeline(history, { window, pipeline }));
    }
    for (const step of ['look', 'each']) {
      const facts = await stepFacts(db, { ...scope, step });
      compare(stepStats(step, 'USD', facts), recountStep(history, step, { window }));
    }
  }
  expect(await checkRollUps(db)).toEqual([]);
}

const windows: Window[] = TIME_RANGES.flatMap((range) => [windowOf(range, NOW), windowBefore(range, NOW)]).filter(
  (window) => window !== null,
);

async function change(database: Database, history: readonly KnownRun[], seed: number): Promise<void> {
  for (const { run: n, step: at, outcome } of fc.sample(Change, { numRuns: 60, seed })) {
    const run = history[n % history.length] as KnownRun;
    const step = at === null ? null : run.steps[at % Math.max(1, run.steps.length)];
    if (step !== undefined) await judge(database, run, { step, outcome });
  }
}

test.each([1, 2, 3])(
  'every statistic is what counting the rows gives, after marks, withdrawals, replays, prunes and restarts (seed %i)',
  async (seed) => {
    const history = randomHistory(seed, 160);
    const site = await newTestDatabase();
    const open = () => site.open({ now: () => NOW });
    let database = await open();
    try {
      for (const run of history) await storeRun(database, run);
      await compareAll(database, history, windows);
      await change(database, history, seed);
      await compareAll(database, history, windows);
      await database.close();
      database = await open();
      await pruneRuns(database, PRUNED_DAYS, NOW);
      for (const run of history)
        run.pruned ||= run.status !== null && run.triggeredAt + run.tookMs < NOW - PRUNED_DAYS * DAY_MS;
      expect(history.some(({ pruned }) => pruned)).toBe(true);
      await change(database, history, seed + 100);
      await compareAll(database, history, windows);
    } finally {
      await database.close();
      await site.remove();
    }
  },
);
