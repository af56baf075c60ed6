import type { Kysely } from 'kysely';
import { isTerminal, type RunStatus } from '../../../runs/state/model.ts';
import type { ChildOutcome } from '../../../runs/run/sub-run.ts';
import { LEFT_OUT, roomTogether } from '../../../runs/state/held.ts';
import { withTexts } from '../bodies/run-bodies.ts';
import type { Tables } from '../../db/schema.ts';

/** The stored end of a run with the outputs of its steps; null for an unknown or a live run. */
export async function readOutcome(db: Kysely<Tables>, runId: string): Promise<ChildOutcome | null> {
  const run = await db
    .selectFrom('runs')
    .select(['status', 'trust', 'error_message'])
    .where('id', '=', runId)
    .executeTakeFirst();
  if (!run || !isTerminal(run.status as RunStatus)) return null;
  const steps = await db
    .selectFrom('step_executions')
    .select(['run_id', 'step_name', 'output'])
    .where('run_id', '=', runId)
    .execute();
  const hasRoom = roomTogether();
  const outputs = (await withTexts(db, steps)).map(({ step_name, output }) => [
    step_name,
    hasRoom(output?.length ?? 0) ? JSON.parse(output ?? '{}') : LEFT_OUT,
  ]);
  return {
    runId,
    status: run.status,
    trust: run.trust,
    message: run.error_message,
    outputs: Object.fromEntries(outputs),
  };
}
