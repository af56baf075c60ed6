import { createRest } from '@signalbox/crds/process/rest';
import type { Kysely } from 'kysely';
import type { Run, StepExecution } from '../../runs/state/model.ts';
import { REPLAY_SOURCES } from '../../runs/state/replay.ts';
import { roomForLists } from '../db/rows/room-for-lists.ts';
import { toStep } from '../db/rows/step-row.ts';
import type { Tables } from '../db/schema.ts';
import { contextOf, deliveryOf, withTexts } from './bodies/run-bodies.ts';
import { replayOf } from './replay/replays.ts';
import { isWhole } from './retention/remove-large.ts';
import { RUN_COLUMNS, toRun } from './run-row.ts';
import { stepRows } from './step-rows.ts';

/** What started a run; `context` is the normalised one without `raw`. */
export interface RunStart {
  run: Run;
  context: Record<string, unknown>;
  /** The delivery as it came; null where none was kept. */
  raw: unknown;
  /** Whether it holds a batch of replays. */
  isReplay: boolean;
}

const SOURCES: ReadonlySet<string> = new Set(REPLAY_SOURCES);

/** Reads no step. Null for an unknown run, and for one that is being removed. */
export async function runStart(db: Kysely<Tables>, id: string): Promise<RunStart | null> {
  const row = await db
    .selectFrom('runs')
    .select([...RUN_COLUMNS, 'runs.context', 'runs.raw', 'runs.raw_hash'])
    .where('id', '=', id)
    .where(isWhole('runs.id'))
    .executeTakeFirst();
  if (!row) return null;
  return {
    run: toRun(row, null),
    context: await contextOf(db, row),
    raw: await deliveryOf(db, row),
    isReplay: SOURCES.has(row.source) && (await replayOf(db, id)) !== null,
  };
}

/** All executions of a run with their texts, in order; of the lists of its fan-outs those for which there is room. */
export async function executedSteps(db: Kysely<Tables>, id: string): Promise<StepExecution[]> {
  const executed: StepExecution[] = [];
  const rest = createRest();
  const withRoom = roomForLists();
  for (const step of await withTexts(db, await stepRows(db, id))) {
    await rest();
    executed.push(toStep(withRoom(step)));
  }
  return executed;
}
