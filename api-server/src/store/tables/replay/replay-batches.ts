import type { Kysely } from 'kysely';
import { ACTIVE_RUN_STATUSES, type RunStatus, type StepStatus } from '../../../runs/state/model.ts';
import { type ChainReplay, gradeOf, type Replay, type ReplaySource } from '../../../runs/state/replay.ts';
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
  const batches = rows.map((row) => ({ ...row, replay: JSON.parse(row.descriptor) as Replay }));
  const ended = await endedChains(
    db,
    new Map(
      batches.flatMap(({ run_id, replay, status }) =>
        replay.kind === 'chain' && status !== 'completed' ? [[run_id, replay] as const] : [],
      ),
    ),
  );
  return batches.map((row) => ({
    runId: row.run_id,
    replay: row.replay,
    source: row.source,
    status: row.status as RunStatus,
    triggeredAt: row.triggered_at,
    completedAt: row.completed_at,
    samples: Number(row.samples),
    attempted: Math.min(Number(row.samples), Number(row.left_out) + (ended.get(row.run_id) ?? Number(row.ended))),
  }));
}

/** How many recorded runs of each chain were attempted: their last step has ended, or another one has ended them. */
async function endedChains(
  db: Kysely<Tables>,
  chains: ReadonlyMap<string, ChainReplay>,
): Promise<ReadonlyMap<string, number>> {
  if (chains.size === 0) return new Map();
  const rows = await db
    .selectFrom('step_executions')
    .select(['run_id', 'family', 'status', 'deterministic_passed'])
    .select(({ fn }) => fn.countAll<number | string>().as('n'))
    .where('run_id', 'in', [...chains.keys()])
    .where('completed_at', 'is not', null)
    .groupBy(['run_id', 'family', 'status', 'deterministic_passed'])
    .execute();
  const isLast = (row: (typeof rows)[number]): boolean =>
    row.family === chains.get(row.run_id)?.asked.at(-1) || row.status === 'cancelled' || hasFailed(row);
  const ended = Map.groupBy(rows.filter(isLast), ({ run_id }) => run_id);
  const countOf = (runId: string) => ended.get(runId)?.reduce((sum, { n }) => sum + Number(n), 0) ?? 0;
  return new Map([...chains.keys()].map((runId) => [runId, countOf(runId)]));
}

const hasFailed = ({ status, deterministic_passed: passed }: { status: string; deterministic_passed: number | null }) =>
  gradeOf({ status: status as StepStatus, deterministicPassed: passed === null ? null : passed === 1 }) ===
  'execution_failed';
