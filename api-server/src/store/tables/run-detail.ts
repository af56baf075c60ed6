import type { Kysely } from 'kysely';
import type { Attention } from '../../runs/state/attention.ts';
import type { Run, StepExecution } from '../../runs/state/model.ts';
import { type Replay, REPLAY_SOURCES } from '../../runs/state/replay.ts';
import { spentBy } from '../../runs/cost/cost.ts';
import { attentionOf } from './attention.ts';
import { feedbackOfRun, type RunFeedback, type StepFeedback } from './feedback.ts';
import { replayOf } from './replay/replays.ts';
import { currentSteps } from './list-runs.ts';
import { type ListedNotification, listNotifications } from './notification-list.ts';
import { contextOf, deliveryOf } from './bodies/run-bodies.ts';
import { isWhole } from './retention/remove-large.ts';
import { LIST_COLUMNS, RUN_COLUMNS, toRun } from './run-row.ts';
import type { Tables } from '../db/schema.ts';
import { executedSteps } from './run-start.ts';
import { spentBelow, type SpentBelow } from './sub-runs/spent.ts';
import { asWaiting, waitingChildren } from './sub-runs/waiting-children.ts';

/** One run with everything that hangs on it (Orchestration 4.2). `context` is the normalised one without `raw`. */
export interface RunDetail {
  run: Run;
  context: Record<string, unknown>;
  /** The delivery as it came; undefined unless asked for. */
  raw?: unknown;
  steps: StepExecution[];
  feedback: RunFeedback | null;
  stepFeedback: ReadonlyMap<string, StepFeedback>;
  children: Run[];
  /** Of its ended sub-runs, and of theirs. */
  below: SpentBelow | null;
  /** Runs that repeat this one, the newest first, at most `MAX_RERUNS`. */
  reruns: Run[];
  /** The newest first, at most `MAX_NOTIFICATIONS`. */
  notifications: ListedNotification[];
  /** Null for a run that needs no person. */
  attention: Attention | null;
  /** What the run replays; null where it holds no batch. */
  replay: Replay | null;
}

const MAX_RERUNS = 50;
const MAX_NOTIFICATIONS = 50;

/** Null for an unknown run, and for one that is being removed. */
export async function runDetail(db: Kysely<Tables>, id: string, include: { raw: boolean }): Promise<RunDetail | null> {
  const row = await db
    .selectFrom('runs')
    .select([...RUN_COLUMNS, 'runs.context'])
    .$if(include.raw, (query) => query.select(['runs.raw', 'runs.raw_hash']))
    .where('id', '=', id)
    .where(isWhole('runs.id'))
    .executeTakeFirst();
  if (!row) return null;
  const [executed, marks, children, reruns, current, notifications] = await Promise.all([
    executedSteps(db, id),
    feedbackOfRun(db, id),
    db.selectFrom('runs').select(LIST_COLUMNS).where('parent_run_id', '=', id).orderBy('seq').execute(),
    db
      .selectFrom('runs')
      .select(LIST_COLUMNS)
      .where('rerun_of', '=', id)
      .orderBy('seq', 'desc')
      .limit(MAX_RERUNS)
      .execute(),
    currentSteps(db, [row]),
    listNotifications(db, { run: id }, MAX_NOTIFICATIONS),
  ]);
  const waiting = await waitingChildren(db, [row, ...children]);
  return {
    run: live(toRun(asWaiting(row, waiting), current.get(id) ?? null), executed),
    context: await contextOf(db, row),
    ...(include.raw
      ? { raw: await deliveryOf(db, { ...row, raw: row.raw ?? null, raw_hash: row.raw_hash ?? null }) }
      : {}),
    steps: executed,
    feedback: marks.run,
    stepFeedback: marks.steps,
    below: children.length > 0 ? await spentBelow(db, id) : null,
    children: children.map((child) => toRun(asWaiting(child, waiting), null)),
    reruns: reruns.map((again) => toRun(again, null)),
    notifications,
    attention: row.attention === null ? null : await attentionOf(db, id),
    replay: SOURCES.has(row.source) ? await replayOf(db, id) : null,
  };
}

const SOURCES: ReadonlySet<string> = new Set(REPLAY_SOURCES);

/** The row of a run says what it spent only once it has ended. */
const live = (run: Run, steps: readonly StepExecution[]): Run =>
  run.completedAt === null ? { ...run, ...spentBy(steps) } : run;

/** The status of a run, or null where there is none: what a stream and a mark need to know. */
export async function findRun(db: Kysely<Tables>, id: string): Promise<Run | null> {
  const row = await db.selectFrom('runs').select(RUN_COLUMNS).where('id', '=', id).executeTakeFirst();
  return row ? toRun(row, null) : null;
}
