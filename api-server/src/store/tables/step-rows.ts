import { createRest } from '@signalbox/crds/process/rest';
import type { Kysely } from 'kysely';
import type { StepRow } from '../db/rows/step-row.ts';
import type { Tables } from '../db/schema.ts';

/** Rows that are read at a time: each may have a megabyte of text. */
const PAGE = 32;

/** All executions of a run as they are stored, in order; between two pages other work has its turn. */
export async function stepRows(db: Kysely<Tables>, runId: string): Promise<StepRow[]> {
  const rest = createRest();
  const rows: StepRow[] = [];
  for (let isFull = true; isFull;) {
    const page = await db
      .selectFrom('step_executions')
      .selectAll()
      .where('run_id', '=', runId)
      .where('step_name', '>', rows.at(-1)?.step_name ?? '')
      .orderBy('step_name')
      .limit(PAGE)
      .execute();
    rows.push(...page);
    isFull = page.length === PAGE;
    await rest();
  }
  return rows.sort((one, other) => one.step_index - other.step_index || one.started_at - other.started_at);
}
