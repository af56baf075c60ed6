import { AppError } from '@signalbox/crds';
import { createRest } from '@signalbox/crds/process/rest';
import { type Kysely, sql } from 'kysely';
import type { Executed } from '../../../runs/run/rerun.ts';
import { childId } from '../../../runs/state/ids.ts';
import type { Tables } from '../../db/schema.ts';

/** Executors of steps that ask people, or in which people may be asked. */
const ASKING = ['human', 'pipeline', 'parallel', 'fan_out'] as const;

/** Steps of all sub-runs that are read, and what one takes in memory. */
const MOST_STEPS = 50_000;
const STEP_BYTES = 512;
const TOO_MANY = `more than ${MOST_STEPS} steps of sub-runs may have asked people, whose answers no rerun takes over; rerun the run from the start, without from_step`;

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
 * By the ids of these sub-runs, and of theirs: their steps that may have asked people, or stopped the sub-run. No text of them is read: a
 * sub-run takes over nothing, and its id follows from the step that started it.
 */
export async function askedBelow(db: Kysely<Tables>, subRuns: readonly string[]): Promise<Map<string, Executed[]>> {
  const byRun = new Map<string, Executed[]>();
  const waiting = [...subRuns];
  const rest = createRest();
  let count = 0;
  for (const id of waiting) {
    const found = await askedIn(db, id);
    count += found.length;
    if (count > MOST_STEPS) throw new AppError('validation', TOO_MANY);
    byRun.set(id, found);
    waiting.push(...found.flatMap(({ rawResponse }) => rawResponse?.childRunId ?? []));
    await rest();
  }
  return byRun;
}

async function askedIn(db: Kysely<Tables>, runId: string): Promise<Executed[]> {
  const rows = await db
    .selectFrom('step_executions')
    .select(['id', 'step_name', 'executor', 'status'])
    .where('run_id', '=', runId)
    .where((is) => is.or([is('executor', 'in', ASKING), is('status', '=', 'stopped')]))
    .execute();
  return rows.map(({ id, step_name: stepName, executor, status }) => ({
    id,
    stepName,
    executor,
    status,
    rawResponse: executor === 'pipeline' ? { childRunId: childId(runId, stepName) } : null,
  }));
}
