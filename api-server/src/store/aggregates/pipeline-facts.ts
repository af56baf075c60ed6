import { type Kysely, sql } from 'kysely';
import type { PipelineFacts } from '../../analytics/pipeline-stats.ts';
import type { Tables } from '../db/schema.ts';
import { runLabels } from './run-labels.ts';
import { runPercentiles } from './percentiles.ts';
import { activeRuns, sumRuns } from './run-sums.ts';
import { asksForExecutions, oneOf, type Scope } from './scope.ts';
import { sumSteps } from './step-sums.ts';

/** All that statistics of pipelines are made of: of each pipeline, every one without a name in `scope`, or of all of them together. */
export async function pipelineFacts(
  db: Kysely<Tables>,
  scope: Scope,
  by: 'pipeline' | 'all' = 'pipeline',
): Promise<PipelineFacts> {
  const [ended, active, steps, percentiles, marks] = await Promise.all([
    sumRuns(db, scope, by === 'pipeline' ? ['pipeline', 'team'] : []),
    activeRuns(db, scope),
    sumSteps(db, scope, by === 'pipeline' ? ['pipeline', 'team', 'costSource'] : ['costSource']),
    runPercentiles(db, scope, [by]),
    runLabels(db, scope, [by]),
  ]);
  return { ended, active, steps, percentiles: percentiles[by], marks: marks[by] };
}

/** The same of each pipeline, of all of them together, and of those in each bucket of time. */
export async function factsOverTime(
  db: Kysely<Tables>,
  scope: Scope & { bucketMs: number },
): Promise<Record<'pipelines' | 'all' | 'series', PipelineFacts>> {
  const { bucketMs: _, ...whole } = scope;
  const by = ['pipeline', 'bucket', 'all'] as const;
  // What is counted from rows is counted once, with all names.
  const fromRows = asksForExecutions(scope) ? sumRuns(db, scope) : null;
  const [ended, active, steps, endedThen, stepsThen, percentiles, marks] = await Promise.all([
    fromRows ?? sumRuns(db, whole),
    activeRuns(db, scope),
    sumSteps(db, whole, ['pipeline', 'team', 'costSource']),
    fromRows ?? sumRuns(db, scope, []),
    sumSteps(db, scope, ['costSource']),
    runPercentiles(db, scope, by),
    runLabels(db, scope, by),
  ]);
  return {
    pipelines: { ended, active, steps, percentiles: percentiles.pipeline, marks: marks.pipeline },
    all: { ended, active, steps, percentiles: percentiles.all, marks: marks.all },
    series: { ended: endedThen, active, steps: stepsThen, percentiles: percentiles.bucket, marks: marks.bucket },
  };
}

/** The hour of the oldest run there is a sum of, in milliseconds; null before the first. */
export async function oldestHour(db: Kysely<Tables>, stages: Scope['stages']): Promise<number | null> {
  const { rows } = await sql<{ hour: number }>`
    select hour from hourly_runs where ${oneOf('stage', stages)} order by hour limit 1`.execute(db);
  return rows[0]?.hour ?? null;
}

/** Whether a pipeline of this name ever had a run, pruned ones too. */
export async function hasRuns(db: Kysely<Tables>, pipeline: string): Promise<boolean> {
  const { rows } = await sql<{ found: number }>`
    select 1 as found from runs where pipeline_name = ${pipeline}
    union all select 1 as found from hourly_runs where pipeline_name = ${pipeline} limit 1`.execute(db);
  return rows.length > 0;
}
