import { type Kysely, sql } from 'kysely';
import type { Tables } from '../db/schema.ts';
import { OUTCOME } from '../tables/labels/outcome.ts';

export interface ChainScope {
  pipelineName: string;
  /** All steps of the range. */
  stepNames: readonly string[];
  limit: number;
}

export interface ChainSamples {
  /** The newest first. */
  runIds: string[];
  /** Who answered in them. */
  agents: { executor: string; agent: string }[];
}

/** Newest runs that are looked through for a chain; a label is rarely older. */
const LOOKED_THROUGH = 2_000;

/**
 * The newest runs of a pipeline in production that executed every step of a range and have a label on at least one
 * of them (Orchestration 4.6).
 */
export async function chainSamples(
  db: Kysely<Tables>,
  { pipelineName, stepNames, limit }: ChainScope,
): Promise<ChainSamples> {
  const newest = db
    .selectFrom('runs')
    .select(['id', 'seq'])
    .where('pipeline_name', '=', pipelineName)
    .where('stage', '=', 'production')
    .where('completed_at', 'is not', null)
    .orderBy('seq', 'desc')
    .limit(LOOKED_THROUGH)
    .as('run');
  const rows = await db
    .selectFrom(newest)
    .innerJoin('step_executions', 'step_executions.run_id', 'run.id')
    .leftJoin('step_feedback', (join) =>
      join
        .onRef('step_feedback.run_id', '=', 'step_executions.run_id')
        .onRef('step_feedback.step_name', '=', 'step_executions.step_name'),
    )
    .leftJoin('run_feedback', 'run_feedback.run_id', 'step_executions.run_id')
    .select('run.id')
    .where('step_executions.step_name', 'in', stepNames)
    .where('step_executions.status', '<>', 'skipped')
    .where('step_executions.completed_at', 'is not', null)
    .groupBy(['run.id', 'run.seq'])
    .having(sql<boolean>`count(*) = ${sql.lit(stepNames.length)} and count(${OUTCOME}) > 0`)
    .orderBy('run.seq', 'desc')
    .limit(limit)
    .execute();
  const runIds = rows.map(({ id }) => id);
  return { runIds, agents: await agentsOf(db, runIds, stepNames) };
}

async function agentsOf(
  db: Kysely<Tables>,
  runIds: readonly string[],
  stepNames: readonly string[],
): Promise<ChainSamples['agents']> {
  if (runIds.length === 0) return [];
  const rows = await db
    .selectFrom('step_executions')
    .select(['executor', 'agent'])
    .distinct()
    .where('run_id', 'in', runIds)
    .where('step_name', 'in', stepNames)
    .where('agent', 'is not', null)
    .execute();
  return rows.map(({ executor, agent }) => ({ executor, agent: agent ?? '' }));
}
