import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { pointsOf } from '../../analytics/insights.ts';
import { allPipelineStats, figuresOf, pipelineStats } from '../../analytics/pipeline-stats.ts';
import { stepStats } from '../../analytics/step-stats.ts';
import { bucketsOf, TIME_RANGES, type Window, windowBefore, windowOf } from '../../analytics/window.ts';
import { HOUR_MS } from '../../runs/state/hourly.ts';
import type { Database } from '../db/database.ts';
import { dialectOf } from '../db/dialect.ts';
import { newTestDatabase } from '../fixtures/test-database.ts';
import { judgedSteps } from '../migrations/0029-judged-steps.ts';
import { lastMark } from '../tables/marks.ts';
import { pruneRuns } from '../tables/prune.ts';
import { Change, DAYS, endRun, judge, type KnownRun, NOW, randomHistory, storeRun } from './fixtures/random-history.ts';
import {
  type Asked,
  judgedText,
  p95,
  recountCalibration,
  recountJudged,
  recountPipeline,
  recountPrompt,
  recountStep,
} from './fixtures/recount.ts';
import { closeDays } from './daily/close-days.ts';
import { packEvidence } from './evidence/pack-evidence.ts';
import { evidenceRead, recountEvidence } from './fixtures/evidence.ts';
import { CLOSED } from './daily/closed-days.ts';
import { checkRollUps } from './roll-up-check.ts';
import { factsOverTime, pipelineFacts } from './pipeline-facts.ts';
import { labelledCounts, labelledExecutions } from './calibration.ts';
import { countPrompts } from './daily/prompt-days.ts';
import { type KnownPrompts, knownPrompts, promptUses, withTemplates } from './prompt-versions.ts';
import { stepFacts } from './step-facts.ts';
import { noteUses } from './uses/label-uses.ts';
import { packDays, RUNS_PACKED } from './uses/pack-days.ts';

const PRUNED_DAYS = 38;
const SCOPES = (['production', 'testing'] as const).flatMap((stage) =>
  ['checkout', 'payments'].map((pipeline) => ({ pipeline, stage })),
);
const never = new AbortController().signal;
const DAY_MS = 86_400_000;

interface Found {
  runs_total: number;
  status_counts: Record<string, number>;
  tokens: { input: number };
  cost: { total: number | null; unpriced_steps: number };
  duration_seconds: { avg: number | null; p95: number | null };
  accuracy: unknown;
}

function compare(found: Found, expected: ReturnType<typeof recountPipeline>, fromSketches: boolean): void {
  const { durations, storedDurations, avg, accuracy, ...rest } = expected;
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
  const exact = p95(fromSketches ? durations : storedDurations);
  const ms = found.duration_seconds.p95 === null ? null : Math.round(found.duration_seconds.p95 * 1000);
  if (!fromSketches || exact === null) expect(ms).toBe(exact);
  else expect(Math.abs((ms ?? 0) - exact)).toBeLessThanOrEqual(exact * 0.01 + 1);
}

/** Whose steps are asked for, each in some of the windows. */
const ofSteps: readonly Partial<Asked>[] = [
  { team: 'web' },
  { agent: 'reader' },
  { model: 'small', pipeline: 'checkout' },
];

async function compareAll(database: Database, history: readonly KnownRun[], windows: readonly Window[]): Promise<void> {
  const { db } = database;
  const [closed, packed] = [await lastMark(db, CLOSED), await lastMark(db, RUNS_PACKED)];
  const isLongOf = ({ from, to }: Window, done: number | null) =>
    done !== null && Math.min(to ?? done, done) - (from ?? 0) > 8 * DAY_MS;
  for (const window of windows) {
    const isLong = isLongOf(window, closed);
    const scope = { window, stages: ['production'] as const };
    const checkout = pipelineStats('checkout', 'USD', await pipelineFacts(db, { ...scope, pipeline: 'checkout' }));
    compare(checkout, recountPipeline(history, { window, pipeline: 'checkout' }), isLong);
    await compareOverTime(database, history, { window, isLong });
    await compareWith(database, history, { window, isLong: isLongOf(window, packed) });
    const web = await pipelineFacts(db, { ...scope, team: 'web' }, 'all');
    compare(figuresOf(web, 'USD'), recountPipeline(history, { window, team: 'web' }), isLong);
    for (const step of ['look', 'each']) {
      const who = ofSteps[windows.indexOf(window) % ofSteps.length];
      for (const of of [{}, who])
        compare(
          stepStats(step, 'USD', await stepFacts(db, { ...scope, ...of, step })),
          recountStep(history, step, { ...of, window }),
          isLong,
        );
    }
  }
  for (const stepName of ['look', 'each'])
    expect(
      await withTemplates(
        db,
        promptUses((await knownPrompts(db, stepName)) as KnownPrompts, await labelledCounts(db, stepName)),
      ),
    ).toEqual([recountPrompt(history, stepName)]);
  expect(await judgedIn(database)).toEqual(recountJudged(history));
  for (const stepName of ['look', 'each'])
    expect(await calibrated(database, stepName)).toEqual(recountCalibration(history, stepName));
  for (const of of SCOPES) expect(await evidenceRead(db, of)).toEqual(recountEvidence(history, of));
  expect(await checkRollUps(db)).toEqual([]);
}

async function calibrated({ db }: Database, stepName: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { pipeline, agent, model, label, n } of await labelledExecutions(db, stepName, 'production')) {
    const key = [pipeline, agent, model, label].join(' ');
    found[key] = (found[key] ?? 0) + n;
  }
  return found;
}

const judgedIn = async ({ db }: Database): Promise<string[]> =>
  (await db.selectFrom('judged_steps').selectAll().execute())
    .map(({ run_id: runId, pipeline_name: pipeline, step_name: name, started_at: startedAt, ...row }) => {
      const { stage, team, family, agent, model, outcome } = row;
      return judgedText({ runId, pipeline, stage, team, name, family, agent, model, startedAt, outcome });
    })
    .toSorted();

/** As an upgrade finds the marks and checks that an older version left. */
const judgeAgain = (database: Database): Promise<void> =>
  database.write(async ({ db }) => {
    await db.deleteFrom('judged_steps').execute();
    const fill = judgedSteps(dialectOf(db).words).filter((statement) => statement.startsWith('INSERT'));
    for (const statement of fill) await sql.raw(statement).execute(db);
  });

/** Who is asked for beside the pipelines, each in some of the windows. */
const WITH: readonly Partial<Asked>[] = [
  { agent: 'reader' },
  { model: 'large' },
  { agent: 'writer', model: 'small' },
  { agent: 'reader', team: 'web' },
  { model: 'small', pipeline: 'checkout' },
];

/** Runs that had an agent or a model: together, each pipeline, and over time in buckets that are narrower than a day. */
async function compareWith(
  { db }: Database,
  history: readonly KnownRun[],
  { window, isLong }: { window: Window; isLong: boolean },
): Promise<void> {
  const bucketMs = 6 * HOUR_MS;
  const buckets = bucketsOf(window, { bucketMs, first: NOW - DAYS * DAY_MS, now: NOW });
  const now = window.to ?? Number.MAX_SAFE_INTEGER;
  const turn = windows.indexOf(window);
  for (const who of [turn, turn + 2].map((n) => WITH[n % WITH.length])) {
    const scope = { window, stages: ['production'] as const, bucketMs, ...who };
    const { all, pipelines, series } = await factsOverTime(db, scope);
    compare(figuresOf(all, 'USD'), recountPipeline(history, { ...who, window }), isLong);
    for (const found of allPipelineStats(pipelines, 'USD'))
      compare(found, recountPipeline(history, { ...who, window, pipeline: found.pipeline_name }), isLong);
    for (const { from, to, figures } of pointsOf(series, { buckets, bucketMs, from: window.from, now }, 'USD'))
      compare(figures, recountPipeline(history, { ...who, window: { from, to } }), isLong);
  }
}

/** What the insights page shows: all pipelines together, each of them, and every day. */
async function compareOverTime(
  { db }: Database,
  history: readonly KnownRun[],
  { window, isLong }: { window: Window; isLong: boolean },
): Promise<void> {
  const facts = await factsOverTime(db, { window, stages: ['production'], bucketMs: DAY_MS });
  compare(figuresOf(facts.all, 'USD'), recountPipeline(history, { window }), isLong);
  for (const found of allPipelineStats(facts.pipelines, 'USD'))
    compare(found, recountPipeline(history, { window, pipeline: found.pipeline_name }), isLong);
  const buckets = bucketsOf(window, { bucketMs: DAY_MS, first: NOW - DAYS * DAY_MS, now: NOW });
  const end = window.to ?? Number.MAX_SAFE_INTEGER;
  for (const { from, to, figures } of pointsOf(
    facts.series,
    { buckets, bucketMs: DAY_MS, from: window.from, now: end },
    'USD',
  ))
    compare(figures, recountPipeline(history, { window: { from, to } }), isLong);
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

/** Packs as many days, as a process that ends meanwhile. */
async function packSome(database: Database, days: number): Promise<number> {
  const closing = new AbortController();
  let packed = 0;
  const progress = () => {
    packed += 1;
    if (packed === days) closing.abort();
  };
  return packDays({ database, signal: closing.signal, progress });
}

test.each([1, 2, 3])(
  'every statistic is what counting the rows gives, after marks, withdrawals, replays, closed days, prunes, restarts and migrations (seed %i)',
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
      const days = await closeDays({ database, now: NOW, signal: never });
      expect(days).toBeGreaterThan(20);
      expect(await closeDays({ database, now: NOW, signal: never })).toBe(0);
      expect(await countPrompts({ database, signal: never })).toBeGreaterThan(20);
      expect(await countPrompts({ database, signal: never })).toBe(0);
      expect(await packEvidence({ database, signal: never })).toBeGreaterThan(20);
      expect(await packEvidence({ database, signal: never })).toBe(0);
      expect(await packSome(database, 15)).toBe(15);
      await compareAll(database, history, windows);
      expect(await packDays({ database, signal: never })).toBeGreaterThan(10);
      expect(await packDays({ database, signal: never })).toBe(0);
      expect(await noteUses({ database, signal: never })).toBeGreaterThan(10);
      expect(await noteUses({ database, signal: never })).toBe(0);
      await compareAll(database, history, windows);
      await database.close();
      database = await open();
      await pruneRuns(database, PRUNED_DAYS, NOW);
      for (const run of history)
        run.pruned ||= run.status !== null && run.triggeredAt + run.tookMs < NOW - PRUNED_DAYS * DAY_MS;
      expect(history.some(({ pruned }) => pruned)).toBe(true);
      await change(database, history, seed + 100);
      await compareAll(database, history, windows);
      await judgeAgain(database);
      await compareAll(database, history, windows);
    } finally {
      await database.close();
      await site.remove();
    }
  },
);

test('a day stays open while one of its runs goes on, and is closed once after that', async () => {
  const site = await newTestDatabase();
  const database = await site.open({ now: () => NOW });
  const history = randomHistory(4, 60);
  const day = NOW - (NOW % DAY_MS) - 20 * DAY_MS;
  const waiting: KnownRun = { ...(history[0] as KnownRun), id: 'waits', triggeredAt: day + 1, status: null, steps: [] };
  try {
    for (const run of [...history, waiting]) await storeRun(database, run);
    await closeDays({ database, now: NOW, signal: never });
    await countPrompts({ database, signal: never });
    await packEvidence({ database, signal: never });
    await packDays({ database, signal: never });
    await noteUses({ database, signal: never });
    expect(await lastMark(database.db, CLOSED)).toBeLessThanOrEqual(day);
    await compareAll(database, [...history, waiting], windows);
    const ends = { ...waiting, status: 'completed' as const };
    await endRun(database, ends);
    await closeDays({ database, now: NOW, signal: never });
    await countPrompts({ database, signal: never });
    await packEvidence({ database, signal: never });
    await packDays({ database, signal: never });
    await noteUses({ database, signal: never });
    expect(await lastMark(database.db, CLOSED)).toBeGreaterThan(day);
    await compareAll(database, [...history, ends], windows);
  } finally {
    await database.close();
    await site.remove();
  }
});
