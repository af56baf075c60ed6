import { createRest } from '@signalbox/crds/process/rest';
import type { Kysely } from 'kysely';
import type { StepRow } from '../db/rows/step-row.ts';
import type { Tables } from '../db/schema.ts';

/** Rows that are read at a time: each may have a megabyte of text. */
const PAGE = 32;

/** All executions of a run as they are stored, in order; between two pages other work has its turn. */
export async function stepRows(db: Kysely<Tables>, runId: string): Promise<StepRow[]> {
  const rows: StepRow[] = [];
  for await (const page of stepPages(db, runId)) rows.push(...page);
  return rows.sort((one, other) => one.step_index - other.step_index || one.started_at - other.started_at);
}

/** The same by name, for who keeps less of each. */
export async function* stepPages(db: Kysely<Tables>, runId: string): AsyncGenerator<StepRow[]> {
  const rest = createRest();
  let last = '';
  for (let isFull = true; isFull;) {
    const page = await db
      .selectFrom('step_executions')
      .selectAll()
      .where('run_id', '=', runId)
      .where('step_name', '>', last)
      .orderBy('step_name')
      .limit(PAGE)
      .execute();
    yield page;
    last = page.at(-1)?.step_name ?? '';
    isFull = page.length === PAGE;
    await rest();
  }
}
