import type { Kysely } from 'kysely';
import type { Tables } from '../db/schema.ts';

/** The resolved body that a run began with; null for an unknown run. */
export async function runDefinition(db: Kysely<Tables>, runId: string): Promise<Record<string, unknown> | null> {
  const row = await db
    .selectFrom('runs')
    .innerJoin('definitions', 'definitions.hash', 'runs.definition_hash')
    .select('definitions.body')
    .where('runs.id', '=', runId)
    .executeTakeFirst();
  return row ? (JSON.parse(row.body) as Record<string, unknown>) : null;
}
