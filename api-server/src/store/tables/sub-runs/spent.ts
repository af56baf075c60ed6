import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../db/schema.ts';

/** Spent by the ended sub-runs of a run, and by theirs. */
export interface SpentBelow {
  tokens: number;
  inputTokens: number;
  outputTokens: number;
  /** Zero where nothing has a price. */
  cost: number;
  unpricedSteps: number;
}

/** A sub-run that has not ended says what it spent itself, once it goes on. */
export async function spentBelow(db: Kysely<Tables>, runId: string): Promise<SpentBelow> {
  const { rows } = await sql<Record<'input' | 'output' | 'cost' | 'unpriced', number | string | null>>`
    WITH RECURSIVE below (id) AS (
      SELECT id FROM runs WHERE parent_run_id = ${runId} AND completed_at IS NOT NULL
      UNION ALL SELECT runs.id FROM runs JOIN below ON runs.parent_run_id = below.id WHERE runs.completed_at IS NOT NULL)
    SELECT sum(input_tokens) AS input, sum(output_tokens) AS output, sum(cost) AS cost, sum(unpriced_steps) AS unpriced
    FROM runs WHERE id IN (SELECT id FROM below)`.execute(db);
  const [sums] = rows;
  const [inputTokens, outputTokens] = [Number(sums?.input ?? 0), Number(sums?.output ?? 0)];
  const [cost, unpricedSteps] = [Number(sums?.cost ?? 0), Number(sums?.unpriced ?? 0)];
  return { tokens: inputTokens + outputTokens, inputTokens, outputTokens, cost, unpricedSteps };
}
