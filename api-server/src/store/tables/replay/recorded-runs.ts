import type { Pipeline } from '@signalbox/crds';
import { createRest } from '@signalbox/crds/process/rest';
import type { Kysely } from 'kysely';
import { stepView } from '../../../runs/run/step-view.ts';
import { viewBytes } from '../../../runs/state/held.ts';
import type { Stage, StepExecution, TriggerContext } from '../../../runs/state/model.ts';
import type { RecordedOf, RecordedRun, RecordedStep } from '../../../runs/state/replay.ts';
import type { Tables } from '../../db/schema.ts';
import { contextOf, withTexts } from '../bodies/run-bodies.ts';
import { isWhole } from '../retention/remove-large.ts';
import { roomForLists } from '../../db/rows/room-for-lists.ts';
import { toStep } from '../../db/rows/step-row.ts';
import { stepRows } from '../step-rows.ts';
import { readStep } from './replays.ts';

export interface RecordedReads {
  /** Null where it is gone. */
  readExecution(id: string): Promise<StepExecution | null>;
  /** Null where it is gone. */
  readRecorded(of: RecordedOf): Promise<RecordedRun | null>;
}

/** For all batches of the process. A run may have thousands of long answers: one is read at a time. */
export function createRecordedReads(db: Kysely<Tables>): RecordedReads {
  let before: Promise<unknown> = Promise.resolve();
  const oneByOne =
    <Of, Found>(read: (db: Kysely<Tables>, of: Of) => Promise<Found>) =>
    (of: Of): Promise<Found> => {
      const found = before.then(() => read(db, of));
      const done = () => undefined;
      before = found.then(done, done);
      return found;
    };
  return { readExecution: oneByOne(readExecution), readRecorded: oneByOne(readRecorded) };
}

async function readExecution(db: Kysely<Tables>, id: string): Promise<StepExecution | null> {
  const row = await db
    .selectFrom('step_executions')
    .select(['run_id', 'step_name'])
    .where('id', '=', id)
    .where(isWhole('run_id'))
    .executeTakeFirst();
  return row ? readStep(db, row.run_id, row.step_name) : null;
}

/** A run with its definition and what its executions said; null where it is gone. */
export async function readRecorded(db: Kysely<Tables>, { runId, fanOut }: RecordedOf): Promise<RecordedRun | null> {
  const row = await db
    .selectFrom('runs')
    .innerJoin('definitions', 'definitions.hash', 'runs.definition_hash')
    .select(['runs.id', 'runs.team', 'runs.stage', 'runs.triggered_at', 'runs.seq', 'runs.context'])
    .select('definitions.body')
    .where('runs.id', '=', runId)
    .where(isWhole('runs.id'))
    .executeTakeFirst();
  if (!row) return null;
  const context = (await contextOf(db, row)) as unknown as Omit<TriggerContext, 'raw'>;
  const group = fanOut === null ? null : await readStep(db, runId, fanOut);
  return {
    run: { id: row.id, team: row.team, stage: row.stage as Stage, triggeredAt: row.triggered_at },
    pipeline: JSON.parse(row.body) as Pipeline,
    context: { ...context, raw: null },
    steps: await readSteps(db, runId),
    items: group?.rawResponse?.items,
  };
}

/** Bytes of a recorded run's answers that stay as they are: twelve candidates of four batches may wait, each with those of a run. */
const PLAIN_BYTES = 2 * 1024 * 1024;
/** Of the others, what is smaller. */
const SMALL_BYTES = 1024;

/** Of each only what later steps see. */
async function readSteps(db: Kysely<Tables>, runId: string): Promise<RecordedStep[]> {
  const steps: RecordedStep[] = [];
  const rest = createRest();
  const withoutList = roomForLists(0);
  let held = 0;
  for (const row of await withTexts(db, await stepRows(db, runId))) {
    const step = toStep(withoutList(row));
    const { stepName, stepIndex, startedAt, completedAt } = step;
    const view = stepView(step, held > PLAIN_BYTES ? SMALL_BYTES : undefined);
    held += viewBytes(view);
    steps.push({ stepName, stepIndex, startedAt, completedAt, view });
    await rest();
  }
  return steps;
}
