import { AppError } from '@signalbox/crds';
import { createRest } from '@signalbox/crds/process/rest';
import { type Kysely, sql } from 'kysely';
import type { SubRun } from '../../../runs/run/rerun.ts';
import { childId } from '../../../runs/state/ids.ts';
import type { Tables } from '../../db/schema.ts';

/** Steps of all sub-runs that are read, and what one takes in memory. */
const MOST_STEPS = 50_000;
const STEP_BYTES = 512;
const TOO_MANY = `more than ${MOST_STEPS} steps of sub-runs, whose answers of people no rerun takes over; rerun the run from the start, without from_step`;

/** What `askedBelow` may take in memory for a run, or for those that this one repeats, whose sub-runs it takes over. */
export async function bytesBelow(db: Kysely<Tables>, runId: string): Promise<number> {
  const { rows } = await sql<{ steps: number | string }>`
    WITH RECURSIVE originals (id, repeats) AS (
      SELECT id, rerun_of FROM runs WHERE id = ${runId}
      UNION SELECT runs.id, runs.rerun_of FROM runs JOIN originals ON runs.id = originals.repeats),
    below (id) AS (
      SELECT runs.id FROM runs JOIN originals ON runs.parent_run_id = originals.id
      UNION SELECT runs.id FROM runs JOIN below ON runs.parent_run_id = below.id)
    SELECT count(*) AS steps FROM (SELECT 1 FROM below JOIN step_executions ON run_id = below.id LIMIT ${MOST_STEPS}) AS found`.execute(
    db,
  );
  return Number(rows[0]?.steps ?? 0) * STEP_BYTES;
}

/**
 * These sub-runs, and theirs, with all their steps: also one that asked nobody tells that people were not asked. No text of them is read: a
 * sub-run takes over nothing, and its id follows from the step that started it.
 */
export async function askedBelow(db: Kysely<Tables>, subRuns: readonly string[]): Promise<Map<string, SubRun>> {
  const byRun = new Map<string, SubRun>();
  const waiting = [...subRuns];
  const rest = createRest();
  let count = 0;
  for (const id of waiting) {
    const found = await subRunOf(db, id);
    if (!found) continue;
    count += found.executed.length;
    if (count > MOST_STEPS) throw new AppError('validation', TOO_MANY);
    byRun.set(id, found);
    waiting.push(...found.executed.flatMap(({ rawResponse }) => rawResponse?.childRunId ?? []));
    await rest();
  }
  return byRun;
}

async function subRunOf(db: Kysely<Tables>, id: string): Promise<SubRun | null> {
  const run = await db.selectFrom('runs').select('pipeline_name').where('id', '=', id).executeTakeFirst();
  if (!run) return null;
  const rows = await db
    .selectFrom('step_executions')
    .select(['id', 'step_name', 'executor', 'status'])
    .where('run_id', '=', id)
    .limit(MOST_STEPS + 1)
    .execute();
  const executed = rows.map((row) => ({
    id: row.id,
    stepName: row.step_name,
    executor: row.executor,
    status: row.status,
    rawResponse: row.executor === 'pipeline' ? { childRunId: childId(id, row.step_name) } : null,
  }));
  const rejected = await db
    .selectFrom('approvals')
    .select('id')
    .where('run_id', '=', id)
    .where('kind', '=', 'step')
    .where('status', '=', 'rejected')
    .limit(1)
    .execute();
  return { pipelineName: run.pipeline_name, executed, isRejected: rejected.length > 0 };
}
