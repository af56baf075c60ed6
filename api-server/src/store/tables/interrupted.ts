import type { Pipeline } from '@signalbox/crds';
import { createRest } from '@signalbox/crds/process/rest';
import type { Kysely } from 'kysely';
import type { RunStatus, Stage, StepExecution, TriggerContext } from '../../runs/state/model.ts';
import { byEnd } from '../../runs/state/end-order.ts';
import { heldContext, heldStep } from '../../runs/state/held.ts';
import type { Interrupted, InterruptedRun } from '../../runs/run/resume.ts';
import { viewedAhead } from '../../runs/run/step-view.ts';
import { readLastEvents } from './bodies/run-bodies.ts';
import { parseShared } from './bodies/shared-json.ts';
import { stepPages } from './step-rows.ts';
import { spentBelow } from './sub-runs/spent.ts';
import { toStep } from '../db/rows/step-row.ts';
import type { Tables } from '../db/schema.ts';

/** Runs that had not ended when their process did, oldest first; of `ids`, where they are given. Each is read when it is asked for, one at a time. */
export async function readInterrupted(db: Kysely<Tables>, ids?: readonly string[]): Promise<Interrupted[]> {
  const rows = await runsIn(db, ids);
  const definitions = new Map<string, Pipeline>();
  const rest = createRest();
  let before: Promise<unknown> = Promise.resolve();
  return rows.map((row) => ({
    id: row.id,
    parentRunId: row.parent_run_id,
    read: () => {
      const found = before.then(() => readRun(db, row, definitions));
      before = found.then(rest, rest);
      return found;
    },
  }));
}

const runsIn = (db: Kysely<Tables>, ids: readonly string[] | undefined) =>
  db
    .selectFrom('runs')
    .select(['id', 'definition_hash', 'status', 'team', 'namespace', 'stage', 'triggered_at'])
    .select(['parent_run_id', 'owner', 'rerun_of'])
    .where('status', 'in', ['queued', 'running', 'interrupted'])
    .$if(ids !== undefined, (some) => some.where('id', 'in', ids ?? []))
    .orderBy('seq')
    .execute();

async function readRun(
  db: Kysely<Tables>,
  row: Awaited<ReturnType<typeof runsIn>>[number],
  definitions: Map<string, Pipeline>,
): Promise<InterruptedRun> {
  const hash = row.definition_hash;
  const pipeline = definitions.get(hash) ?? (await readDefinition(db, hash));
  definitions.set(hash, pipeline);
  const executed: StepExecution[] = [];
  const rest = createRest();
  for await (const page of stepPages(db, row.id)) {
    for (const step of page) {
      executed.push(viewedAhead(heldStep(toStep(step))));
      await rest();
    }
  }
  executed.sort(byEnd);
  return {
    id: row.id,
    parentRunId: row.parent_run_id,
    owner: row.owner,
    status: row.status as RunStatus,
    pipeline,
    context: await readContext(db, row.id),
    team: row.team,
    namespace: row.namespace,
    stage: row.stage as Stage,
    triggeredAt: row.triggered_at,
    rerunOf: row.rerun_of,
    steps: executed,
    below: executed.some(({ executor }) => executor === 'pipeline')
      ? await spentBelow(db, row.id)
      : { tokens: 0, cost: 0 },
    events: await readLastEvents(db, row.id),
  };
}

/** One definition for all its runs, of which thousands may wait. */
async function readDefinition(db: Kysely<Tables>, hash: string): Promise<Pipeline> {
  const found = db.selectFrom('definitions').select('body').where('hash', '=', hash);
  return parseShared((await found.executeTakeFirstOrThrow()).body) as Pipeline;
}

async function readContext(db: Kysely<Tables>, id: string): Promise<TriggerContext> {
  const found = db.selectFrom('runs').select('context').where('id', '=', id);
  const { context } = await found.executeTakeFirstOrThrow();
  return heldContext({ ...(JSON.parse(context) as Omit<TriggerContext, 'raw'>), raw: null });
}

/** The stored status of a run; null for an unknown one. */
export async function readStatus(db: Kysely<Tables>, id: string): Promise<string | null> {
  const row = await db.selectFrom('runs').select('status').where('id', '=', id).executeTakeFirst();
  return row?.status ?? null;
}

/** Hashes of the definition bodies that are already kept. */
export async function keptDefinitions(db: Kysely<Tables>): Promise<Set<string>> {
  const rows = await db.selectFrom('definitions').select('hash').execute();
  return new Set(rows.map(({ hash }) => hash));
}

/** Production runs that have begun and not ended (Orchestration 6). */
export async function countRunning(db: Kysely<Tables>): Promise<number> {
  const row = await db
    .selectFrom('runs')
    .select((count) => count.fn.countAll<number>().as('runs'))
    .where('status', 'in', ['running', 'interrupted'])
    .where('stage', '=', 'production')
    .executeTakeFirst();
  return row?.runs ?? 0;
}
