import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../db/schema.ts';

/** Whether a question of a step was rejected or has no answer: its own, or one of a run or of those below it. */
export async function unapproved(
  db: Kysely<Tables>,
  { approvalId, runId }: { approvalId: string; runId: string },
): Promise<'rejected' | 'unanswered' | null> {
  const { rows } = await sql<{ status: string }>`
    WITH RECURSIVE below (id) AS (
      SELECT id FROM runs WHERE id = ${runId}
      UNION SELECT runs.id FROM runs JOIN below ON runs.parent_run_id = below.id)
    SELECT status FROM approvals WHERE id = ${approvalId} AND status IN ('rejected', 'pending', 'cancelled')
    UNION SELECT approvals.status FROM below JOIN approvals ON approvals.run_id = below.id
    WHERE approvals.kind = 'step' AND approvals.status IN ('rejected', 'pending', 'cancelled')`.execute(db);
  if (rows.length === 0) return null;
  return rows.some(({ status }) => status === 'rejected') ? 'rejected' : 'unanswered';
}
