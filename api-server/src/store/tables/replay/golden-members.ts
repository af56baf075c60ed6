import type { Kysely } from 'kysely';
import { camelCase, snakeCase } from '../../../runs/state/key-case.ts';
import type { ExecutorName, Outcome, StepStatus } from '../../../runs/state/model.ts';
import { LABEL_SOURCE, type LabelSource, OUTCOME } from '../labels/outcome.ts';
import type { Tx } from '../../db/database.ts';
import { RUN_SUMMARY } from './run-summary.ts';
import { isWhole } from '../retention/remove-large.ts';
import type { GoldenMemberRow, Tables } from '../../db/schema.ts';

/** A pinned execution with the label that it had at that moment (Orchestration 2.11). */
export interface GoldenMember {
  id: string;
  setId: string;
  /** The row of the execution. */
  stepId: string;
  runId: string;
  /** Of a fan-out branch with its index. */
  stepName: string;
  outcome: Outcome;
  labelSource: LabelSource;
  note: string | null;
  /** Milliseconds. */
  pinnedAt: number;
  pinnedBy: string;
  promptHash: string | null;
  agentVersion: string | null;
}

/** A member beside what is stored of its execution now; null where the row is gone. */
export interface SeenMember extends GoldenMember {
  source: (RecordedStep & { runSummary: string | null }) | null;
}

/** A stored execution with its label of the moment. */
export interface RecordedStep {
  id: string;
  runId: string;
  stepName: string;
  family: string;
  status: StepStatus;
  executor: ExecutorName;
  agent: string | null;
  pipelineName: string;
  /** The batch of replays that it is a result of; null for the execution of a pipeline. */
  batchId: string | null;
  summary: string | null;
  primaryConfidence: number | null;
  promptHash: string | null;
  agentVersion: string | null;
  outcome: Outcome | null;
  labelSource: LabelSource | null;
}

/** Held by transactions that pin a row, and by those that remove rows without a pin. */
export const lockPins = (tx: Tx) => tx.lock('pins');

/** False where the set has this execution already. */
export async function insertGoldenMember(tx: Tx, member: GoldenMember): Promise<boolean> {
  const inserted = await tx.db
    .insertInto('golden_members')
    .values(snakeCase(member))
    .onConflict((conflict) => conflict.columns(['set_id', 'step_id']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

/** The members of a set in the order in which they were pinned, which is the same wherever it is imported. */
export async function goldenMembers(db: Kysely<Tables>, setId: string): Promise<GoldenMember[]> {
  const rows = await db
    .selectFrom('golden_members')
    .selectAll()
    .where('set_id', '=', setId)
    .orderBy('pinned_at')
    .orderBy('step_id')
    .execute();
  return rows.map(toMember);
}

/** The same with the executions as they are stored now. */
export async function seenMembers(db: Kysely<Tables>, setId: string): Promise<SeenMember[]> {
  const members = await goldenMembers(db, setId);
  const ids = members.map(({ stepId }) => stepId);
  const withRuns = recorded(db)
    .leftJoin('runs', 'runs.id', 'step_executions.run_id')
    .select(RUN_SUMMARY.as('run_summary'));
  const found = ids.length === 0 ? [] : await withRuns.where('step_executions.id', 'in', ids).execute();
  const byId = new Map(found.map((row) => [row.id, camelCase(row)]));
  return members.map((member) => ({ ...member, source: byId.get(member.stepId) ?? null }));
}

/** Null for an unknown run or step, and for one that is being removed. */
export async function recordedStep(
  db: Kysely<Tables>,
  by: { runId: string; stepName: string } | { id: string },
): Promise<RecordedStep | null> {
  const query = recorded(db).where(isWhole('step_executions.run_id'));
  const row = await (
    'id' in by
      ? query.where('step_executions.id', '=', by.id)
      : query.where('step_executions.run_id', '=', by.runId).where('step_executions.step_name', '=', by.stepName)
  ).executeTakeFirst();
  return row ? camelCase(row) : null;
}

const recorded = (db: Kysely<Tables>) =>
  db
    .selectFrom('step_executions')
    .leftJoin('replays', 'replays.run_id', 'step_executions.run_id')
    .leftJoin('step_feedback', (join) =>
      join
        .onRef('step_feedback.run_id', '=', 'step_executions.run_id')
        .onRef('step_feedback.step_name', '=', 'step_executions.step_name'),
    )
    .leftJoin('run_feedback', 'run_feedback.run_id', 'step_executions.run_id')
    .select([
      'step_executions.id',
      'step_executions.run_id',
      'step_executions.step_name',
      'step_executions.family',
      'step_executions.status',
      'step_executions.executor',
      'step_executions.agent',
      'step_executions.pipeline_name',
      'step_executions.summary',
      'step_executions.primary_confidence',
      'step_executions.prompt_hash',
      'step_executions.agent_version',
      'replays.run_id as batch_id',
      OUTCOME.as('outcome'),
      LABEL_SOURCE.as('label_source'),
    ]);

/** Names of the sets that have an execution. */
export async function setsWith(db: Kysely<Tables>, stepId: string): Promise<{ id: string; name: string }[]> {
  return db
    .selectFrom('golden_members')
    .innerJoin('golden_sets', 'golden_sets.id', 'golden_members.set_id')
    .select(['golden_sets.id', 'golden_sets.name'])
    .where('golden_members.step_id', '=', stepId)
    .orderBy('golden_sets.name')
    .execute();
}

type Change = Partial<Pick<GoldenMember, 'note' | 'outcome' | 'labelSource'>>;

/** Null where the set has no such member. */
export async function changeGoldenMember(
  tx: Tx,
  { setId, id }: Pick<GoldenMember, 'setId' | 'id'>,
  change: Change,
): Promise<GoldenMember | null> {
  const row = await tx.db
    .updateTable('golden_members')
    .set(snakeCase(change))
    .where('set_id', '=', setId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row ? toMember(row) : null;
}

/** Null where the set has no such member. */
export async function deleteGoldenMember(tx: Tx, setId: string, id: string): Promise<GoldenMember | null> {
  const row = await tx.db
    .deleteFrom('golden_members')
    .where('set_id', '=', setId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return row ? toMember(row) : null;
}

const toMember = (row: GoldenMemberRow): GoldenMember => ({
  ...camelCase(row),
  outcome: row.outcome as Outcome,
  labelSource: row.label_source as LabelSource,
});
