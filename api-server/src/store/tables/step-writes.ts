import { createRest } from '@signalbox/crds/process/rest';
import { chargedOf } from '../../runs/state/charged.ts';
import type { StepExecution } from '../../runs/state/model.ts';
import type { Tx } from '../db/database.ts';
import { columns, statement } from '../db/statement.ts';
import { END_COLUMNS, START_COLUMNS, toStepRow, type StepRow } from '../db/rows/step-row.ts';

export const insertStepRow = statement<StepRow>((db, slot) =>
  db
    .insertInto('step_executions')
    .values(columns(slot, START_COLUMNS))
    // A resumed step already has its row; what it began with stays.
    .onConflict((conflict) => conflict.columns(['run_id', 'step_name']).doNothing()),
);

export const endStepRow = statement<StepRow>((db, slot) =>
  db.updateTable('step_executions').set(columns(slot, END_COLUMNS)).where('id', '=', slot.id),
);

export const noteAttempt = statement<Pick<StepRow, 'id' | 'attempts' | 'raw_response'>>((db, slot) =>
  db
    .updateTable('step_executions')
    .set(columns(slot, ['attempts', 'raw_response']))
    .where('id', '=', slot.id),
);

const insertEndedRow = statement<StepRow>((db, slot) =>
  db.insertInto('step_executions').values(columns(slot, [...START_COLUMNS, ...END_COLUMNS])),
);

export interface RerunOf extends Pick<StepExecution, 'runId' | 'pipelineName' | 'stage'> {
  newId(now: number): string;
  now: number;
}

/**
 * Writes the results that a rerun starts with: rows of status `skipped`, which no statistic counts, that say whose result
 * they carry. A restart rebuilds the rerun from them. Between thousands of them other work has its turn.
 */
export async function insertPrior(
  tx: Tx,
  prior: readonly StepExecution[],
  { newId, now, ...rerun }: RerunOf,
): Promise<void> {
  const rest = createRest();
  for (const [at, step] of prior.entries()) {
    await rest();
    const loaded = step.rawResponse?.loaded ?? { stepId: step.id, status: step.status };
    const row = toStepRow({
      ...step,
      ...rerun,
      ...NOT_COUNTED,
      id: newId(now),
      startedAt: now,
      // In the order in which the rerun has them.
      completedAt: now + at,
      // What it cost stands in the original alone.
      rawResponse: { ...step.rawResponse, costs: undefined, loaded, charged: chargedOf(step) },
    });
    await tx.run(insertEndedRow, row);
  }
}

/** What belongs to the original execution alone. */
const NOT_COUNTED = {
  status: 'skipped',
  team: null,
  attempts: 0,
  inputTokens: null,
  outputTokens: null,
  cost: null,
  costSource: null,
  unpricedCalls: null,
  error: null,
  checks: [],
  artifacts: [],
} as const satisfies Partial<StepExecution>;
