import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { ACTIVE_RUN_STATUSES } from '../../runs/state/model.ts';
import type { CoverageKey, DedupWindow, DuplicateKey, DuplicateRun } from '../../runs/state/records.ts';
import type { Tx } from '../db/database.ts';
import { dialectOf } from '../db/dialect.ts';
import { statement } from '../db/statement.ts';

interface Found {
  id: string;
  status: string;
  triggered_at: number;
}

/** As the index of active runs says it, which is found by its words alone. */
const isActive = sql<boolean>`status IN (${sql.join(ACTIVE_RUN_STATUSES.map((status) => sql.lit(status)))})`;

/** Two look-ups in two indexes: one for both would read every run of the key, however old. */
export const findDuplicateRow = statement<{ pipeline: string; key: string; since: number }, Found>((db, slot) => {
  const ofKey = db
    .selectFrom('runs')
    .select(['id', 'status', 'triggered_at'])
    .where('dedup_key', '=', slot.key)
    .where('pipeline_name', '=', slot.pipeline);
  return ofKey.where(isActive).unionAll(ofKey.where('triggered_at', '>=', slot.since));
});

/** The longest key that an index takes as it is. */
const MAX_KEY = 256;

/** A key comes from the sender of an alert; an index entry has a maximum size, and not every text can be stored. */
export const indexed = (key: string): string =>
  key.length <= MAX_KEY && key.isWellFormed() && !key.includes('\0')
    ? key
    : `sha256:${createHash('sha256').update(key).digest('hex')}`;

const lockName = (pipelineName: string, key: string) => `dedup ${pipelineName} ${key}`;

/**
 * The run that suppresses a new one: a live one first, else the newest within the window (Orchestration 4.1).
 * No other transaction decides about this key until this one ends.
 */
export async function findDuplicate(
  tx: Tx,
  { pipelineName, dedupKey, since, until }: DuplicateKey,
): Promise<DuplicateRun | null> {
  const key = indexed(dedupKey);
  await tx.lock(lockName(pipelineName, key));
  return suppressor(await tx.all(findDuplicateRow, { pipeline: pipelineName, key, since }), until);
}

/** Sorting is ours: there are none or a few rows, and a sorter in the database costs more than finding them. */
function suppressor(rows: readonly Found[], until: number): DuplicateRun | null {
  const row =
    rows.find(({ status }) => (ACTIVE_RUN_STATUSES as readonly string[]).includes(status)) ??
    rows.filter((one) => one.triggered_at <= until).toSorted((a, b) => b.triggered_at - a.triggered_at)[0];
  return row ? { id: row.id, status: row.status, triggeredAt: row.triggered_at } : null;
}

type Covering = Found & { key: string };
/** `keys` is a JSON array, or the one key. */
type Asked = { pipeline: string; keys: string; since: number };

const coveringRows = (isList: boolean) =>
  statement<Asked, Covering>((db, slot) => {
    const list = () => db.selectFrom(dialectOf(db).listed(slot.keys).as('listed')).select('value');
    const isAsked = (column: 'dedup_key' | 'alert_key') =>
      isList ? sql<boolean>`${sql.ref(column)} in ${list()}` : sql<boolean>`${sql.ref(column)} = ${slot.keys}`;
    const own = db
      .selectFrom('runs')
      .select([sql<string>`dedup_key`.as('key'), 'id', 'status', 'triggered_at'])
      .where('dedup_key', 'is not', null)
      .where(isAsked('dedup_key'))
      .where('pipeline_name', '=', slot.pipeline);
    return own
      .where(isActive)
      .unionAll(own.where('triggered_at', '>=', slot.since))
      .unionAll(
        db
          .selectFrom('run_alerts')
          .innerJoin('runs', 'runs.id', 'run_alerts.run_id')
          .select(['run_alerts.alert_key as key', 'runs.id', 'runs.status', 'runs.triggered_at'])
          .where('run_alerts.pipeline_name', '=', slot.pipeline)
          .where(isAsked('alert_key'))
          .where((row) =>
            row.or([row('runs.triggered_at', '>=', slot.since), row('runs.status', 'in', ACTIVE_RUN_STATUSES)]),
          ),
      );
  });
/** Most deliveries have one alert, and a list costs more than a value. */
export const findCoveringRow = coveringRows(false);
const findCoveringRows = coveringRows(true);

/** Locks that one delivery takes, of its most severe alerts; one of the others may be looked at twice at worst. */
const MAX_LOCKS = 32;

/**
 * The runs that cover these alerts, by their key: as their own alert or as one of their delivery, by the rule of
 * `findDuplicate` and under the same locks.
 */
export async function findCovering(
  tx: Tx,
  { pipelineName, keys, since, until }: CoverageKey,
): Promise<ReadonlyMap<string, DuplicateRun>> {
  const stored = new Map(keys.map((key) => [indexed(key), key]));
  for (const key of [...stored.keys()].slice(0, MAX_LOCKS).toSorted()) await tx.lock(lockName(pipelineName, key));
  const [only = '', ...more] = stored.keys();
  const found = await (more.length === 0
    ? tx.all(findCoveringRow, { pipeline: pipelineName, keys: only, since })
    : tx.all(findCoveringRows, { pipeline: pipelineName, keys: JSON.stringify([only, ...more]), since }));
  const covering = new Map<string, DuplicateRun>();
  for (const [key, rows] of Map.groupBy(found, ({ key }) => key)) {
    const run = suppressor(rows, until);
    const asked = stored.get(key);
    if (run && asked !== undefined) covering.set(asked, run);
  }
  return covering;
}

const insertRunAlerts = statement<{ pipeline: string; keys: string; runId: string }>((db, slot) =>
  db
    .insertInto('run_alerts')
    .columns(['pipeline_name', 'alert_key', 'run_id'])
    .expression(
      db
        .selectFrom(dialectOf(db).listed(slot.keys).as('listed'))
        .select([sql<string>`${slot.pipeline}`.as('pipeline_name'), 'value', sql<string>`${slot.runId}`.as('run_id')]),
    ),
);

/** Rows that one delivery removes: more than it adds, so that what an earlier version kept of an alert goes in time. */
const MOST_REPLACED = 3_000;

export const removeCoverage = statement<{ pipeline: string; keys: string }>((db, slot) => {
  const kept = db
    .selectFrom('run_alerts')
    .select(['pipeline_name', 'alert_key', 'run_id'])
    .where('pipeline_name', '=', slot.pipeline)
    .where('alert_key', 'in', db.selectFrom(dialectOf(db).listed(slot.keys).as('listed')).select('value'))
    .limit(sql.lit(MOST_REPLACED));
  return db
    .deleteFrom('run_alerts')
    .where(({ eb, refTuple }) =>
      eb(refTuple('pipeline_name', 'alert_key', 'run_id'), 'in', kept.$asTuple('pipeline_name', 'alert_key', 'run_id')),
    );
});

/**
 * Keeps which alerts a run covers beside the one that it is about. It takes them from runs that ended before the window: a look-up reads
 * all rows of an alert.
 */
export async function keepCoverage(
  tx: Tx,
  runId: string,
  { pipelineName, keys }: Omit<CoverageKey, keyof DedupWindow>,
): Promise<void> {
  const stored = JSON.stringify([...new Set(keys.map(indexed))]);
  await tx.run(removeCoverage, { pipeline: pipelineName, keys: stored });
  await tx.run(insertRunAlerts, { pipeline: pipelineName, keys: stored, runId });
}
