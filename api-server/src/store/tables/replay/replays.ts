import type { Kysely } from 'kysely';
import type { Outcome, StepExecution } from '../../../runs/state/model.ts';
import type { Write } from '../../../runs/state/records.ts';
import type { Judgement, RecordedLabelSource, Replay, ReplayBatch, ReplaySample } from '../../../runs/state/replay.ts';
import type { Tx } from '../../db/database.ts';
import type { ReplaySampleRow, Tables } from '../../db/schema.ts';
import { withTexts } from '../bodies/run-bodies.ts';
import { toStep } from '../../db/rows/step-row.ts';
import { toWrite } from '../../db/write.ts';

export type NewSample = Pick<ReplaySample, 'stepId' | 'sourceRunId' | 'outcome' | 'labelSource' | 'pinned'>;

/** The caller's idempotency key, and a hash of what was asked for under it. */
export interface LaunchKey {
  key: string;
  hash: string;
}

export interface NewReplay {
  replay: Replay;
  samples: readonly NewSample[];
  launch: LaunchKey | null;
}

/** Rejects with `conflict` where another batch has the launch key. */
export async function insertReplay(tx: Tx, runId: string, { replay, samples, launch }: NewReplay): Promise<void> {
  const step_name = replay.kind === 'step' ? replay.stepName : replay.fromStep;
  await tx.db
    .insertInto('replays')
    .values({
      run_id: runId,
      kind: replay.kind,
      step_name,
      descriptor: JSON.stringify(replay),
      launch_key: launch && launch.key,
      launch_hash: launch && launch.hash,
    })
    .execute();
  const rows = samples.map((sample, position): ReplaySampleRow => ({
    run_id: runId,
    position,
    step_id: sample.stepId,
    source_run_id: sample.sourceRunId,
    outcome: sample.outcome,
    label_source: sample.labelSource,
    pinned: Number(sample.pinned),
    reason: null,
    judgement: null,
  }));
  if (rows.length > 0) await tx.db.insertInto('replay_samples').values(rows).execute();
}

/** What the run replays; null where it is no batch. */
export async function replayOf(db: Kysely<Tables>, runId: string): Promise<Replay | null> {
  const row = await db.selectFrom('replays').select('descriptor').where('run_id', '=', runId).executeTakeFirst();
  return row ? (JSON.parse(row.descriptor) as Replay) : null;
}

/** The same with its samples. */
export async function readBatch(db: Kysely<Tables>, runId: string): Promise<ReplayBatch | null> {
  const replay = await replayOf(db, runId);
  if (!replay) return null;
  const samples = await db
    .selectFrom('replay_samples')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('position')
    .execute();
  return { replay, samples: samples.map(toSample) };
}

/** The batch that was launched under the key. */
export async function launchedAs(
  db: Kysely<Tables>,
  launchKey: string,
): Promise<{ runId: string; hash: string | null } | null> {
  const row = await db
    .selectFrom('replays')
    .select(['run_id', 'launch_hash'])
    .where('launch_key', '=', launchKey)
    .executeTakeFirst();
  return row ? { runId: row.run_id, hash: row.launch_hash } : null;
}

export const noteUnreplayable = (runId: string, position: number, reason: string): Write =>
  toWrite((tx) => update(tx, { runId, position }, { reason }));

export const noteJudgement = (runId: string, position: number, judgement: Judgement): Write =>
  toWrite((tx) => update(tx, { runId, position }, { judgement: JSON.stringify(judgement) }));

async function update(
  tx: Tx,
  { runId, position }: { runId: string; position: number },
  set: Partial<Pick<ReplaySampleRow, 'reason' | 'judgement'>>,
): Promise<void> {
  await tx.db
    .updateTable('replay_samples')
    .set(set)
    .where('run_id', '=', runId)
    .where('position', '=', position)
    .execute();
}

/** One execution of a run, by its name. */
export async function readStep(db: Kysely<Tables>, runId: string, stepName: string): Promise<StepExecution | null> {
  const rows = await db
    .selectFrom('step_executions')
    .selectAll()
    .where('run_id', '=', runId)
    .where('step_name', '=', stepName)
    .execute();
  const [row] = await withTexts(db, rows);
  return row ? toStep(row) : null;
}

const toSample = (row: ReplaySampleRow): ReplaySample => ({
  position: row.position,
  stepId: row.step_id,
  sourceRunId: row.source_run_id,
  outcome: row.outcome as Outcome | null,
  labelSource: row.label_source as RecordedLabelSource | null,
  pinned: row.pinned === 1,
  reason: row.reason,
  judgement: row.judgement === null ? null : (JSON.parse(row.judgement) as Judgement),
});
