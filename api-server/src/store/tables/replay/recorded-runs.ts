import type { Pipeline } from '@signalbox/crds';
import type { Kysely } from 'kysely';
import type { Stage, TriggerContext } from '../../../runs/state/model.ts';
import type { RecordedRun } from '../../../runs/state/replay.ts';
import type { Tables } from '../../db/schema.ts';
import { contextOf, withTexts } from '../bodies/run-bodies.ts';
import { isWhole } from '../retention/remove-large.ts';
import { toStep } from '../../db/rows/step-row.ts';

/** A run with its definition and all of its executions, by its id or the id of one of them; null where it is gone. */
export async function readRecorded(
  db: Kysely<Tables>,
  of: { stepId: string } | { runId: string },
): Promise<RecordedRun | null> {
  const runId = 'runId' in of ? of.runId : await runOfStep(db, of.stepId);
  if (runId === null) return null;
  const row = await db
    .selectFrom('runs')
    .innerJoin('definitions', 'definitions.hash', 'runs.definition_hash')
    .select(['runs.id', 'runs.team', 'runs.stage', 'runs.triggered_at', 'runs.seq', 'runs.context'])
    .select('definitions.body')
    .where('runs.id', '=', runId)
    .where(isWhole('runs.id'))
    .executeTakeFirst();
  if (!row) return null;
  const steps = await db
    .selectFrom('step_executions')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('step_index')
    .execute();
  const context = (await contextOf(db, row)) as unknown as Omit<TriggerContext, 'raw'>;
  return {
    run: { id: row.id, team: row.team, stage: row.stage as Stage, triggeredAt: row.triggered_at },
    pipeline: JSON.parse(row.body) as Pipeline,
    context: { ...context, raw: null },
    steps: (await withTexts(db, steps)).map(toStep),
  };
}

async function runOfStep(db: Kysely<Tables>, stepId: string): Promise<string | null> {
  const row = await db.selectFrom('step_executions').select('run_id').where('id', '=', stepId).executeTakeFirst();
  return row?.run_id ?? null;
}
