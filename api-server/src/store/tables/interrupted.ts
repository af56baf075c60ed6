import type { Pipeline } from '@signalbox/crds';
import type { Kysely } from 'kysely';
import type { RunStatus, Stage, TriggerContext } from '../../runs/state/model.ts';
import type { InterruptedRun } from '../../runs/run/resume.ts';
import { readEvents } from './bodies/run-bodies.ts';
import { spentBelow } from './sub-runs/spent.ts';
import { toStep } from '../db/rows/step-row.ts';
import type { Tables } from '../db/schema.ts';

/** Runs that had not ended when their process did, oldest first, with all they need to go on; of `ids`, where they are given. */
export async function readInterrupted(db: Kysely<Tables>, ids?: readonly string[]): Promise<InterruptedRun[]> {
  const rows = await db
    .selectFrom('runs')
    .innerJoin('definitions', 'definitions.hash', 'runs.definition_hash')
    .select([
      'runs.id',
      'runs.status',
      'runs.context',
      'runs.team',
      'runs.namespace',
      'runs.stage',
      'runs.triggered_at',
      'runs.parent_run_id',
      'runs.owner',
      'runs.rerun_of',
    ])
    .select('definitions.body')
    .where('runs.status', 'in', ['queued', 'running', 'interrupted'])
    .$if(ids !== undefined, (some) => some.where('runs.id', 'in', ids ?? []))
    .orderBy('runs.seq')
    .execute();
  const found: InterruptedRun[] = [];
  for (const row of rows) {
    const context = JSON.parse(row.context) as Omit<TriggerContext, 'raw'>;
    const steps = await db
      .selectFrom('step_executions')
      .selectAll()
      .where('run_id', '=', row.id)
      .orderBy('step_index')
      .execute();
    const executed = steps.map(toStep);
    found.push({
      id: row.id,
      parentRunId: row.parent_run_id,
      owner: row.owner,
      status: row.status as RunStatus,
      pipeline: JSON.parse(row.body) as Pipeline,
      // Nothing that a run does needs the delivery as it came.
      context: { ...context, raw: null },
      team: row.team,
      namespace: row.namespace,
      stage: row.stage as Stage,
      triggeredAt: row.triggered_at,
      rerunOf: row.rerun_of,
      steps: executed,
      below: executed.some(({ executor }) => executor === 'pipeline')
        ? await spentBelow(db, row.id)
        : { tokens: 0, cost: 0 },
      events: await readEvents(db, row.id, 0),
    });
  }
  return found;
}

/** The stored status of a run; null for an unknown one. */
export async function readStatus(db: Kysely<Tables>, id: string): Promise<string | null> {
  const row = await db.selectFrom('runs').select('status').where('id', '=', id).executeTakeFirst();
  return row?.status ?? null;
}

/** Hashes of the definition bodies that are already kept. */
export async function keptDefinitions(db: Kysely<Tables>): Promise<Set<string>> {
  const rows = await db.selectFrom('definitions').select('hash').execute();
  return new Set(rows.map(({ hash }) => hash));
}

/** Production runs that have begun and not ended (Orchestration 6). */
export async function countRunning(db: Kysely<Tables>): Promise<number> {
  const row = await db
    .selectFrom('runs')
    .select((count) => count.fn.countAll<number>().as('runs'))
    .where('status', 'in', ['running', 'interrupted'])
    .where('stage', '=', 'production')
    .executeTakeFirst();
  return row?.runs ?? 0;
}
