import { type Kysely, sql } from 'kysely';
import {
  batchOf,
  type EvidenceBatch,
  type EvidenceOf,
  type EvidenceRow,
  type Outcome,
} from '../../../analytics/readiness/executions.ts';
import type { Window } from '../../../analytics/window.ts';
import { camelCase } from '../../../runs/state/key-case.ts';
import { ACTIVE_RUN_STATUSES } from '../../../runs/state/model.ts';
import { isNoReplay } from '../../db/rows/executions.ts';
import type { Tables } from '../../db/schema.ts';
import { portionsOf } from '../../tables/bodies/step-counts.ts';
import { all, within } from '../scope.ts';

/** Runs of a read. */
const SLICE = 100;
/** Executions of a read: few, so that other requests run between two reads. A run may have more. */
export const MOST_ROWS = 5_000;
/** More runs are not asked for: whoever judges looks at fewer. */
const MOST = 20_000;

export interface RunOf {
  id: string;
  seq: number;
}

/** The executions of a pipeline's runs at one stage, newest run first, without those that tried something out. */
export async function* storedRuns(reader: () => Kysely<Tables>, of: EvidenceOf): AsyncGenerator<EvidenceBatch> {
  for (let before: number | null = null; ;) {
    const runs = await runsBefore(reader(), of, before);
    yield* batchesOf(reader, runs);
    if (runs.length < SLICE) return;
    before = runs.at(-1)?.seq ?? null;
  }
}

/** The same of the runs that were triggered in a window, of which there are not many. */
export async function* storedRunsIn(
  reader: () => Kysely<Tables>,
  of: EvidenceOf,
  window: Window,
): AsyncGenerator<EvidenceBatch> {
  const ended = await runsOf(reader(), of)
    .where('completed_at', 'is not', null)
    .where(all([sql<boolean>`true`, ...within('triggered_at', window)]))
    .orderBy('triggered_at', 'desc')
    .limit(MOST)
    .execute();
  const runs = new Map([...ended, ...(await activeRuns(reader(), of, window))].map((run) => [run.seq, run]));
  yield* batchesOf(
    reader,
    [...runs.values()].toSorted((a, b) => b.seq - a.seq),
  );
}

/** The executions of some runs but for those that were skipped, which are no evidence. */
export async function* batchesOf(
  reader: () => Kysely<Tables>,
  runs: readonly RunOf[],
  slice = SLICE,
): AsyncGenerator<EvidenceBatch> {
  for (let at = 0; at < runs.length; at += slice)
    for (const some of await portionsOf(reader(), runs.slice(at, at + slice), MOST_ROWS)) yield* pagesOf(reader, some);
}

/** Only a run that is alone has more rows than one page. */
async function* pagesOf(reader: () => Kysely<Tables>, runs: readonly RunOf[]): AsyncGenerator<EvidenceBatch> {
  for (let after = ''; ;) {
    const rows = await pageOf(reader(), runs, after);
    yield batchOf(
      runs.map(({ seq }) => seq),
      rows,
    );
    if (runs.length > 1 || rows.length < MOST_ROWS) return;
    after = rows.at(-1)?.stepName ?? '';
  }
}

const runsOf = (db: Kysely<Tables>, { pipeline, stage }: EvidenceOf) =>
  db
    .selectFrom('runs')
    .select(['id', 'seq'])
    .where('pipeline_name', '=', pipeline)
    .where('stage', '=', stage)
    .where(isNoReplay());

const runsBefore = (db: Kysely<Tables>, of: EvidenceOf, before: number | null): Promise<RunOf[]> =>
  runsOf(db, of)
    .$if(before !== null, (query) => query.where('seq', '<', before))
    .orderBy('seq', 'desc')
    .limit(SLICE)
    .execute();

/** Those that go on are found by their status: there are few of any pipeline. */
const activeRuns = (db: Kysely<Tables>, { pipeline, stage }: EvidenceOf, window: Window): Promise<RunOf[]> =>
  db
    .with(
      (cte) => cte('active').materialized(),
      (inner) =>
        inner
          .selectFrom('runs')
          .select(['id', 'seq', 'pipeline_name', 'stage', 'triggered_at'])
          .where('status', 'in', ACTIVE_RUN_STATUSES)
          .where(isNoReplay()),
    )
    .selectFrom('active')
    .select(['id', 'seq'])
    .where('pipeline_name', '=', pipeline)
    .where('stage', '=', stage)
    .where(all([sql<boolean>`true`, ...within('triggered_at', window)]))
    .execute();

/** The ended runs of a window, in their order. */
export const endedRuns = (db: Kysely<Tables>, of: EvidenceOf, window: Window): Promise<RunOf[]> =>
  runsOf(db, of)
    .where('completed_at', 'is not', null)
    .where(all(within('triggered_at', window)))
    .orderBy('seq')
    .execute();

async function pageOf(db: Kysely<Tables>, runs: readonly RunOf[], after: string): Promise<EvidenceRow[]> {
  const seqs = new Map(runs.map(({ id, seq }) => [id, seq]));
  const rows = await db
    .selectFrom('step_executions')
    .leftJoin('step_feedback', (join) =>
      join
        .onRef('step_feedback.run_id', '=', 'step_executions.run_id')
        .onRef('step_feedback.step_name', '=', 'step_executions.step_name'),
    )
    .leftJoin('run_feedback', 'run_feedback.run_id', 'step_executions.run_id')
    .select([
      'step_executions.run_id',
      'step_executions.step_name',
      'step_executions.agent',
      'step_executions.provider',
      'step_executions.model',
      'step_executions.prompt_hash',
      'step_executions.agent_version',
      'step_executions.status',
      'step_executions.error_type',
      'step_executions.effective_confidence as confidence',
      'step_executions.grounding_score as grounding',
      'step_executions.deterministic_passed',
      'step_executions.started_at',
      'step_feedback.outcome as step_outcome',
      'run_feedback.outcome as run_outcome',
    ])
    .where('step_executions.run_id', 'in', [...seqs.keys()])
    .where('step_executions.status', '<>', 'skipped')
    .$if(runs.length === 1, (query) =>
      query.where('step_executions.step_name', '>', after).orderBy('step_executions.step_name').limit(MOST_ROWS),
    )
    .execute();
  return rows.map(({ deterministic_passed: passed, run_id: id, ...row }): EvidenceRow => ({
    ...camelCase(row),
    run: seqs.get(id) ?? 0,
    checkFailed: passed === 0,
    stepOutcome: row.step_outcome as Outcome | null,
    runOutcome: row.run_outcome as Outcome | null,
  }));
}
