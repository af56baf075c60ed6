import type { Kysely } from 'kysely';
import type { PipelineFacts } from '../../analytics/pipeline-stats.ts';
import type { Tables } from '../db/schema.ts';
import { runMarks } from './marks.ts';
import { runPercentiles } from './percentiles.ts';
import { activeRuns, sumRuns } from './run-sums.ts';
import type { Scope } from './scope.ts';
import { sumSteps } from './step-sums.ts';

/** As the facts of pipelines, of all of them together: told apart by bucket of time, where `scope` has a width. */
export async function overallFacts(db: Kysely<Tables>, scope: Scope): Promise<PipelineFacts> {
  const [ended, active, steps, percentiles, marks] = await Promise.all([
    sumRuns(db, scope),
    activeRuns(db, scope),
    sumSteps(db, scope, ['costSource']),
    runPercentiles(db, scope, 'bucket'),
    runMarks(db, scope, 'bucket'),
  ]);
  return { ended, active, steps, percentiles, marks };
}
