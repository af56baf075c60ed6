import { type Kysely, sql } from 'kysely';
import type { PipelineFacts } from '../../analytics/pipeline-stats.ts';
import type { By } from '../../analytics/sums.ts';
import type { Tables } from '../db/schema.ts';
import { runLabels } from './run-labels.ts';
import { runPercentiles } from './percentiles.ts';
import { activeRuns, sumRuns } from './run-sums.ts';
import { asksForExecutions, oneOf, type Scope } from './scope.ts';
import { sumSteps } from './step-sums.ts';
import { runsOf } from './uses/read-runs.ts';

/** All that statistics of pipelines are made of: of each pipeline, every one without a name in `scope`, or of all of them together. */
export async function pipelineFacts(
  db: Kysely<Tables>,
  scope: Scope,
  by: 'pipeline' | 'all' = 'pipeline',
): Promise<PipelineFacts> {
  const [{ ended, percentiles }, active, steps, marks] = await Promise.all([
    endedFacts(db, scope, by),
    activeRuns(db, scope),
    sumSteps(db, scope, by === 'pipeline' ? ['pipeline', 'team', 'costSource'] : ['costSource']),
    runLabels(db, scope, [by]),
  ]);
  return { ended, active, steps, percentiles, marks: marks[by] };
}

/** The same of each pipeline, of all of them together, and of those in each bucket of time. */
export async function factsOverTime(
  db: Kysely<Tables>,
  scope: Scope & { bucketMs: number },
): Promise<Record<'pipelines' | 'all' | 'series', PipelineFacts>> {
  const { bucketMs: _, ...whole } = scope;
  const [ended, active, steps, stepsThen, marks] = await Promise.all([
    endedOverTime(db, scope),
    activeRuns(db, scope),
    sumSteps(db, whole, ['pipeline', 'team', 'costSource']),
    sumSteps(db, scope, ['costSource']),
    runLabels(db, scope, BY),
  ]);
  return {
    pipelines: { ...ended.pipelines, active, steps, marks: marks.pipeline },
    all: { ...ended.all, active, steps, marks: marks.all },
    series: { ...ended.series, active, steps: stepsThen, marks: marks.bucket },
  };
}

const BY = ['pipeline', 'bucket', 'all'] as const;
type EndedFacts = Pick<PipelineFacts, 'ended' | 'percentiles'>;

/** Sums and sketches know no agents and models: runs that had one are added up one by one. */
async function endedFacts(db: Kysely<Tables>, scope: Scope, by: 'pipeline' | 'all'): Promise<EndedFacts> {
  if (asksForExecutions(scope)) {
    const runs = await runsOf(db, scope);
    return { ended: runs.ended(), percentiles: runs.percentiles(by) };
  }
  const [ended, percentiles] = await Promise.all([
    sumRuns(db, scope, by === 'pipeline' ? ['pipeline', 'team'] : []),
    runPercentiles(db, scope, [by]),
  ]);
  return { ended, percentiles: percentiles[by] };
}

async function endedOverTime(
  db: Kysely<Tables>,
  scope: Scope & { bucketMs: number },
): Promise<Record<'pipelines' | 'all' | 'series', EndedFacts>> {
  if (asksForExecutions(scope)) {
    const runs = await runsOf(db, scope);
    const of = (by: By): EndedFacts => ({ ended: runs.ended(), percentiles: runs.percentiles(by) });
    return { pipelines: of('pipeline'), all: of('all'), series: of('bucket') };
  }
  const { bucketMs: _, ...whole } = scope;
  const [ended, endedThen, percentiles] = await Promise.all([
    sumRuns(db, whole),
    sumRuns(db, scope, []),
    runPercentiles(db, scope, BY),
  ]);
  return {
    pipelines: { ended, percentiles: percentiles.pipeline },
    all: { ended, percentiles: percentiles.all },
    series: { ended: endedThen, percentiles: percentiles.bucket },
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
