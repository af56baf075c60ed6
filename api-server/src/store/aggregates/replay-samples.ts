import { type Kysely, sql } from 'kysely';
import type { ExecutorName, Outcome } from '../../runs/state/model.ts';
import type { ReplayBucket } from '../../runs/state/replay.ts';
import type { Tables } from '../db/schema.ts';
import { LABEL_SOURCE, type LabelSource, OUTCOME } from '../tables/labels/outcome.ts';
import { OWN_USE, type OwnUseRow, ownUse, PARTS } from './own-use.ts';

/** A recorded execution with its label (Orchestration 3); what it used, in tokens. */
export interface LabelledExecution {
  stepId: string;
  runId: string;
  pipelineName: string;
  executor: ExecutorName;
  agent: string | null;
  outcome: Outcome | null;
  labelSource: LabelSource | null;
  inputTokens: number | null;
  outputTokens: number | null;
}

export type UsedBucket = ReplayBucket & { executor: ExecutorName };

/** The step's executions in production that ended; groups are none, and a replay runs in testing. */
const inProduction =
  () => sql<boolean>`step_executions.stage = 'production' and step_executions.completed_at is not null
  and step_executions.status <> 'skipped' and step_executions.kind not in ('parallel', 'fan_out')`;

const COLUMNS = {
  agent: 'agent',
  model: 'model',
  provider: 'provider',
  promptHash: 'prompt_hash',
  agentVersion: 'agent_version',
} as const satisfies Record<keyof ReplayBucket, string>;

/** An empty side of the bucket is one that its executions have not. */
const inBucket = (bucket: ReplayBucket, table: 'step_executions' | 'judged_steps') =>
  sql<boolean>`${sql.join(
    Object.entries(COLUMNS).map(([key, column]) => {
      const value = bucket[key as keyof ReplayBucket];
      const ref = sql.ref(`${table}.${column}`);
      return value === null ? sql`${ref} is null` : sql`${ref} = ${value}`;
    }),
    sql` and `,
  )}`;

/** The bucket of the step's newest answer in production, or whether the given one has any; null where there is none. */
export async function usedBucket(
  db: Kysely<Tables>,
  stepName: string,
  bucket: ReplayBucket | null,
): Promise<UsedBucket | null> {
  const row = await db
    .selectFrom('step_executions')
    .select(['executor', 'agent', 'model', 'provider', 'prompt_hash', 'agent_version'])
    .where('family', '=', stepName)
    .where(inProduction())
    .$if(bucket !== null, (query) => query.where(inBucket(bucket as ReplayBucket, 'step_executions')))
    // A call that failed says nothing of the model that would have answered.
    .$if(bucket === null, (query) => query.where('status', 'not in', ['failed', 'cancelled']))
    .orderBy('started_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  const { executor, agent, model, provider, prompt_hash: promptHash, agent_version: agentVersion } = row;
  return { executor, agent, model, provider, promptHash, agentVersion };
}

/** The newest labelled executions of a bucket in production (Orchestration 4.6, rule 4). */
export async function bucketSamples(
  db: Kysely<Tables>,
  stepName: string,
  { bucket, limit }: { bucket: ReplayBucket; limit: number },
): Promise<LabelledExecution[]> {
  const rows = await db
    .selectFrom('judged_steps')
    .innerJoin('step_executions', (join) =>
      join
        .onRef('step_executions.run_id', '=', 'judged_steps.run_id')
        .onRef('step_executions.step_name', '=', 'judged_steps.step_name'),
    )
    .leftJoin('step_feedback', (join) =>
      join
        .onRef('step_feedback.run_id', '=', 'step_executions.run_id')
        .onRef('step_feedback.step_name', '=', 'step_executions.step_name'),
    )
    .leftJoin('run_feedback', 'run_feedback.run_id', 'step_executions.run_id')
    .where('judged_steps.family', '=', stepName)
    .where('judged_steps.stage', '=', 'production')
    .where(inBucket(bucket, 'judged_steps'))
    .where('judged_steps.agent', 'is not', null)
    .select(SELECTED)
    .select([OUTCOME.as('outcome'), LABEL_SOURCE.as('label_source'), PARTS.as('parts')])
    .orderBy('judged_steps.started_at', 'desc')
    .orderBy('step_executions.id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => toExecution(row));
}

/** Executions by their ids, in that order, with their labels of now; those that are gone are left out. */
export async function executionsById(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<Map<string, LabelledExecution>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('step_executions')
    .leftJoin('step_feedback', (join) =>
      join
        .onRef('step_feedback.run_id', '=', 'step_executions.run_id')
        .onRef('step_feedback.step_name', '=', 'step_executions.step_name'),
    )
    .leftJoin('run_feedback', 'run_feedback.run_id', 'step_executions.run_id')
    .where('step_executions.id', 'in', ids)
    .select(SELECTED)
    .select([OUTCOME.as('outcome'), LABEL_SOURCE.as('label_source'), PARTS.as('parts')])
    .execute();
  return new Map(rows.map((row) => [row.id, toExecution(row)]));
}

const SELECTED = [
  'step_executions.id',
  'step_executions.run_id',
  'step_executions.pipeline_name',
  'step_executions.executor',
  'step_executions.agent',
  ...OWN_USE,
] as const;

interface Row extends OwnUseRow {
  id: string;
  run_id: string;
  pipeline_name: string;
  executor: ExecutorName;
  agent: string | null;
  outcome: Outcome | null;
  label_source: LabelSource | null;
}

const toExecution = (row: Row, own = ownUse(row)): LabelledExecution => ({
  stepId: row.id,
  runId: row.run_id,
  pipelineName: row.pipeline_name,
  executor: row.executor,
  agent: row.agent,
  outcome: row.outcome,
  labelSource: row.label_source,
  inputTokens: own.inputTokens,
  outputTokens: own.outputTokens,
});
