import { type Kysely, sql } from 'kysely';
import { monthOf, NAMESPACE_TOKENS } from '../../../runs/cost/cost.ts';
import { ACTIVE_RUN_STATUSES } from '../../../runs/state/model.ts';
import type { Tx } from '../../db/database.ts';
import type { Tables } from '../../db/schema.ts';

/** Active runs of a namespace, without sub-runs and replays; no other transaction counts them until this one ends. */
export async function countActive(tx: Tx, namespace: string): Promise<number> {
  await tx.lock(`namespace ${namespace}`);
  const { n } = await tx.db
    .selectFrom('runs')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('status', 'in', ACTIVE_RUN_STATUSES)
    .where('namespace', '=', namespace)
    .where('parent_run_id', 'is', null)
    .executeTakeFirstOrThrow();
  return n;
}

/** The namespace that a run counts towards; null for none, and for an unknown run. */
export async function namespaceOfRun(db: Kysely<Tables>, runId: string): Promise<string | null> {
  const [namespace = null] = await namespacesOf(db, [runId]);
  return namespace;
}

/** The namespaces that runs count towards, each once; null among them for a run that counts towards none. */
export async function namespacesOf(db: Kysely<Tables>, runIds: readonly string[]): Promise<(string | null)[]> {
  if (runIds.length === 0) return [];
  const rows = await db.selectFrom('runs').select('namespace').distinct().where('id', 'in', runIds).execute();
  return rows.map(({ namespace }) => namespace);
}

/** Tokens that ended steps of a namespace's runs used in a month, without replays. */
export async function tokensOf(tx: Tx, namespace: string, month: string): Promise<number> {
  const spent = await tx.db
    .selectFrom('counters')
    .select('value')
    .where('metric', '=', NAMESPACE_TOKENS)
    .where('labels', '=', JSON.stringify([namespace, month]))
    .executeTakeFirst();
  return spent?.value ?? 0;
}

/**
 * Counts runs that were stored without their namespace towards it, found by the names of its pipelines: runs of an older version, and
 * those from before the namespace was listed. Of the month, where nothing was counted yet, the tokens of these pipelines.
 */
export async function adoptRuns(
  tx: Tx,
  { namespace, pipelines, now }: { namespace: string; pipelines: readonly string[]; now: number },
): Promise<void> {
  await tx.db
    .updateTable('runs')
    .set({ namespace })
    .where('status', 'in', ACTIVE_RUN_STATUSES)
    .where('namespace', 'is', null)
    .where('pipeline_name', 'in', pipelines)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('replays').select('replays.run_id').whereRef('replays.run_id', '=', 'runs.id'))),
    )
    .execute();
  const month = monthOf(now);
  const { tokens } = await tx.db
    .selectFrom('hourly_steps')
    .select(sql<number | null>`sum(input_tokens + output_tokens)`.as('tokens'))
    .where('hour', '>=', Date.parse(`${month}-01T00:00:00Z`))
    .where('pipeline_name', 'in', pipelines)
    .executeTakeFirstOrThrow();
  await tx.db
    .insertInto('counters')
    .values({ metric: NAMESPACE_TOKENS, labels: JSON.stringify([namespace, month]), value: tokens ?? 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
