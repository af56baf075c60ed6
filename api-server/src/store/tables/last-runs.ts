import { createRest } from '@signalbox/crds/process/rest';
import { type Kysely, sql } from 'kysely';
import type { RunStatus } from '../../runs/state/model.ts';
import { dialectOf } from '../db/dialect.ts';
import type { RunRow, Tables } from '../db/schema.ts';
import { asWaiting, waitingChildren } from './sub-runs/waiting-children.ts';

/** The newest run of a pipeline, without what it found. */
export interface LastRun {
  id: string;
  status: RunStatus;
  source: string;
  triggeredAt: number;
  /** `human`, or `run:<id>` of the sub-run that waits. */
  waitingOn: string | null;
}

const COLUMNS = [
  'runs.id',
  'runs.pipeline_name',
  'runs.status',
  'runs.source',
  'runs.triggered_at',
  'runs.completed_at',
  'runs.waiting_on',
] as const;

/** Pipelines that are looked for together. */
const PORTION = 500;

/** The newest run of each named pipeline that has one. */
export async function lastRuns(db: Kysely<Tables>, pipelines: readonly string[]): Promise<Map<string, LastRun>> {
  const found = new Map<string, LastRun>();
  const rest = createRest();
  for (let at = 0; at < pipelines.length; at += PORTION) {
    await rest();
    const rows = await newestRows(db, pipelines.slice(at, at + PORTION));
    const waiting = await waitingChildren(db, rows);
    for (const row of rows) found.set(row.pipeline_name, toLastRun(asWaiting(row, waiting)));
  }
  return found;
}

/** One search in an index for each name, all in one statement. */
function newestRows(db: Kysely<Tables>, pipelines: readonly string[]) {
  const newest = sql<number>`(select max(seq) from runs as own where own.pipeline_name = named.value)`;
  return db
    .selectFrom(dialectOf(db).listed(JSON.stringify(pipelines)).as('named'))
    .innerJoin('runs', (join) => join.on('runs.seq', '=', newest))
    .select(COLUMNS)
    .execute();
}

const toLastRun = (row: Pick<RunRow, 'id' | 'status' | 'source' | 'triggered_at' | 'waiting_on'>): LastRun => ({
  id: row.id,
  status: row.status as RunStatus,
  source: row.source,
  triggeredAt: row.triggered_at,
  waitingOn: row.waiting_on,
});
