import { AppError, Pipeline } from '@signalbox/crds';
import type { ArtifactStore } from '../../store/artifacts/keep.ts';
import { isTerminal, type RunEvent, type TerminalRunStatus } from '../../runs/state/model.ts';
import type { Database } from '../../store/db/database.ts';
import { runDefinition } from '../../store/tables/definitions.ts';
import { lastRuns } from '../../store/tables/last-runs.ts';
import { type FoundRun, lastStatuses, listRuns, runsById, runsByPrefix } from '../../store/tables/list-runs.ts';
import { createDeclared } from '../../store/tables/results/declared.ts';
import { resultsOf } from '../../store/tables/results/results.ts';
import type { RunFilter } from '../../store/tables/search/run-filter.ts';
import { bytesOfRuns } from '../../store/tables/bodies/text-sizes.ts';
import { findRun, runDetail } from '../../store/tables/run-detail.ts';
import type { Actor } from '../actor.ts';
import type { RecordAction } from '../audit/record.ts';
import { unknownId } from '../fields.ts';
import type { Reading } from '../reading/reading-room.ts';
import type { Comparison } from '../views/comparison.ts';
import {
  type Cancelled,
  type NewestRun,
  newestRun,
  type RerunStarted,
  type RunDetail,
  type RunLine,
  runDetailView,
  runLine,
  type RunsPage,
  runsPageView,
} from '../views/run.ts';
import { compare, type Compared } from './compare.ts';
import { rerun, type RerunDeps } from './rerun.ts';
import type { RunsQuery } from './runs-query.ts';

/** Frames of a live stream: events, then the final status of the run (Orchestration 6). */
export type Frame = RunEvent | { type: 'run_complete'; status: TerminalRunStatus };

export interface RunsDeps extends Omit<RerunDeps, 'database'> {
  database: Pick<Database, 'db' | 'reader'>;
  reading: Reading;
  /** For cancellations: the run ends in a transaction of its own, maybe on another replica. */
  record: RecordAction;
  /** Cancels a run on any replica; resolves when its end is stored. */
  cancel(runId: string, by: string): Promise<'cancelled' | 'not_found' | 'ended'>;
  /** Null where artifacts are not stored. */
  artifacts: Pick<ArtifactStore, 'read'> | null;
  /** Events of a run after a sequence, oldest first, stored or not yet. */
  history(runId: string, afterSeq: number): Promise<RunEvent[]>;
  /** Calls the listener for every new frame, on any replica; returns the unsubscribe function. */
  subscribe(runId: string, listener: (frame: Frame) => void): () => void;
}

/** Reads, cancels and reruns runs (Orchestration 4.1, 4.2). */
export interface Runs {
  list(query: RunsQuery & Pick<RunFilter, 'waiting'>): Promise<RunsPage>;
  /** Those of these runs that there are, newest first. */
  named(ids: readonly string[]): Promise<RunLine[]>;
  /** How the last runs of these pipelines stand, by pipeline, the newest at the end. */
  lastOf(pipelines: readonly string[], most: number, signal: AbortSignal): Promise<Map<string, string[]>>;
  /** The newest run of each of these pipelines that has one, by pipeline. */
  newest(pipelines: readonly string[]): Promise<Map<string, NewestRun>>;
  /** Runs whose id begins so, the newest first; none for what is no beginning of an id. */
  byPrefix(prefix: string, limit: number): Promise<FoundRun[]>;
  /** `raw`: with the delivery as received. Throws `not_found`, and `unavailable` where too much is read at once, as does `compare`. */
  get(id: string, include?: { raw: boolean }): Promise<RunDetail>;
  /** Two runs, step by step. Throws `not_found`, and `conflict` for runs of two pipelines unless forced. */
  compare(a: string, b: string, options: { force: boolean }): Promise<Comparison>;
  /** How the run ended; null while it goes on. Throws `not_found`. */
  ended(id: string): Promise<TerminalRunStatus | null>;
  log(id: string, afterSeq: number): Promise<RunEvent[]>;
  subscribe: RunsDeps['subscribe'];
  /** The definition that the run started with; null when it is no longer stored. */
  definition(id: string): Promise<Pipeline | null>;
  /** Throws `not_found`, and `conflict` where the run has ended. */
  cancel(id: string, actor: Actor): Promise<Cancelled>;
  /** Reruns from the start where `fromStep` is null. Throws `not_found`, `conflict`, `validation`, `at_capacity`. */
  rerun(id: string, fromStep: string | null, actor: Actor): Promise<RerunStarted>;
  /** The text of one artifact. Throws `not_found`. */
  artifact(id: string, stepName: string, name: string): Promise<Buffer>;
}

/** Long enough to name few. */
const ID_BEGINNING = /^[0-9a-f][0-9a-f-]{3,35}$/;

/** How long the search of a list may take. */
const LIST_MS = 30_000;

/** One of these alone is answered by an index in the order of the list. */
const INDEXED: ReadonlySet<string> = new Set<keyof RunFilter>(['status', 'pipeline', 'parent']);
/** Rows that a list may skip in place. */
const MAX_SKIPPED = 1_000;

/** What may look through many runs is read beside the event loop. */
function readsMany(filter: RunFilter, offset: number): boolean {
  const [first, ...more] = Object.entries(filter).filter(([, value]) => value !== undefined);
  return offset > MAX_SKIPPED || more.length > 0 || (first !== undefined && !INDEXED.has(first[0]));
}

export function createRuns(deps: RunsDeps): Runs {
  const { db } = deps.database;
  const readDeclared = createDeclared(db);
  const stored = async (id: string, include = { raw: false }) => {
    const found = await runDetail(db, id, include);
    if (!found) throw unknownId('run');
    const results = await resultsOf(db, [found.run, ...found.children, ...found.reruns], readDeclared);
    return { run: found.run, results, view: await runDetailView(found, results) };
  };
  const compared = async (id: string): Promise<Compared> => {
    const { run, results, view } = await stored(id);
    return { line: runLine(run, results), steps: view.steps };
  };
  const read = async <T>(ids: readonly string[], all: () => Promise<T>): Promise<T> =>
    deps.reading(await bytesOfRuns(db, ids), all);
  return {
    list: async ({ limit, offset, cursor, label, sort = 'age', ...filter }) => {
      const asked = { ...filter, labels: label };
      const from = readsMany(asked, offset) || sort !== 'age' ? deps.database.reader(AbortSignal.timeout(LIST_MS)) : db;
      const found = await listRuns(from, asked, { limit, offset, before: cursor, order: sort });
      const results = await resultsOf(from, found.runs, readDeclared);
      return runsPageView(found, { limit, offset, results });
    },
    named: async (ids) => {
      if (ids.length === 0) return [];
      const runs = await runsById(db, ids);
      const results = await resultsOf(db, runs, readDeclared);
      return runs.map((run) => runLine(run, results));
    },
    lastOf: (pipelines, most, signal) => lastStatuses(deps.database.reader(signal), pipelines, most),
    newest: async (pipelines) =>
      new Map([...(await lastRuns(db, pipelines))].map(([name, run]) => [name, newestRun(run)])),
    byPrefix: async (prefix, limit) => (ID_BEGINNING.test(prefix) ? runsByPrefix(db, prefix, limit) : []),
    get: async (id, include) => (await read([id], () => stored(id, include))).view,
    compare: async (a, b, { force }) => {
      return read([a, b], async () => {
        const runs = await Promise.all([compared(a), compared(b)]);
        if (!force && runs[0].line.pipeline_name !== runs[1].line.pipeline_name)
          throw new AppError('conflict', 'the runs are of different pipelines; force=true compares them all the same');
        return compare(...runs);
      });
    },
    ended: async (id) => {
      const found = await findRun(db, id);
      if (!found) throw unknownId('run');
      return isTerminal(found.status) ? found.status : null;
    },
    log: deps.history,
    subscribe: deps.subscribe,
    definition: async (id) => Pipeline.safeParse(await runDefinition(db, id)).data ?? null,
    cancel: async (id, actor) => {
      const result = await deps.cancel(id, actor.name);
      if (result === 'not_found') throw unknownId('run');
      if (result === 'ended') throw new AppError('conflict', 'the run has ended');
      await deps.record(actor, { action: 'cancel', targetType: 'run', target: id, runId: id, outcome: 'cancelled' });
      return { status: 'cancelled', run_id: id };
    },
    rerun: (id, fromStep, actor) => rerun(deps, { id, fromStep, actor }),
    artifact: async (id, stepName, name) => {
      const found = await deps.artifacts?.read(id, stepName, name);
      if (!found) throw new AppError('not_found', 'the artifact does not exist, or its retention time is over');
      return found;
    },
  };
}
