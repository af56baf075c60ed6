import type { Kysely } from 'kysely';
import { ACTIVE_RUN_STATUSES, type RunStatus } from '../../../runs/state/model.ts';
import type { Replay, ReplaySource } from '../../../runs/state/replay.ts';
import type { Tx } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';

/** A batch in a list, with how far it is; times in milliseconds. */
export interface ListedBatch {
  runId: string;
  replay: Replay;
  source: string;
  status: RunStatus;
  triggeredAt: number;
  completedAt: number | null;
  samples: number;
  /** Samples that were attempted. */
  attempted: number;
}

export interface BatchFilter {
  step?: string | undefined;
  /** Only batches that are older than this one. */
  before?: string | undefined;
  limit: number;
}

/** Batches that people started and that have not ended; no other transaction counts them until this one ends. */
export async function countOpenBatches(tx: Tx): Promise<number> {
  await tx.lock('replay batches');
  const { n } = await tx.db
    .selectFrom('replays')
    .innerJoin('runs', 'runs.id', 'replays.run_id')
    .where('runs.status', 'in', ACTIVE_RUN_STATUSES)
    .where('runs.source', '=', 'replay' satisfies ReplaySource)
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow();
  return n;
}

/** Batches, the newest first: ids of runs are in the order of time. */
export async function listBatches(db: Kysely<Tables>, { step, before, limit }: BatchFilter): Promise<ListedBatch[]> {
  const rows = await db
    .selectFrom('replays')
    .innerJoin('runs', 'runs.id', 'replays.run_id')
    .select([
      'replays.run_id',
      'replays.descriptor',
      'runs.source',
      'runs.status',
      'runs.triggered_at',
      'runs.completed_at',
    ])
    .select((query) => [
      query
        .selectFrom('replay_samples')
        .whereRef('replay_samples.run_id', '=', 'replays.run_id')
        .select((all) => all.fn.countAll().as('n'))
        .as('samples'),
      query
        .selectFrom('replay_samples')
        .whereRef('replay_samples.run_id', '=', 'replays.run_id')
        .where('reason', 'is not', null)
        .select((all) => all.fn.countAll().as('n'))
        .as('left_out'),
      query
        .selectFrom('step_executions')
        .whereRef('step_executions.run_id', '=', 'replays.run_id')
        .where('completed_at', 'is not', null)
        .select((all) => all.fn.countAll().as('n'))
        .as('ended'),
    ])
    .$if(step !== undefined, (query) => query.where('replays.step_name', '=', step as string))
    .$if(before !== undefined, (query) => query.where('replays.run_id', '<', before as string))
    .orderBy('replays.run_id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    runId: row.run_id,
    replay: JSON.parse(row.descriptor) as Replay,
    source: row.source,
    status: row.status as RunStatus,
    triggeredAt: row.triggered_at,
    completedAt: row.completed_at,
    samples: Number(row.samples),
    attempted: Math.min(Number(row.samples), Number(row.left_out) + Number(row.ended)),
  }));
}
