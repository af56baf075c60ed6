import { alertOf, regressionFigures } from '../../analytics/regression.ts';
import type { RegressionEntry } from '../../config/config.ts';
import type { Notification } from '../../notify/message.ts';
import type { RegressionAlert } from '../../notify/regression.ts';
import { newId } from '../../runs/state/ids.ts';
import { isTerminal, type RunStatus } from '../../runs/state/model.ts';
import { latestOf } from '../../schedules/fires.ts';
import { handleEach } from '../../schedules/handle-each.ts';
import { regressionSamples } from '../../store/aggregates/regression-rows.ts';
import type { Database } from '../../store/db/database.ts';
import { findGoldenSet, type GoldenSet } from '../../store/tables/replay/golden-sets.ts';
import { readStatus } from '../../store/tables/interrupted.ts';
import {
  dropNotification,
  insertDelayed,
  insertNotifications,
  postponeNotification,
} from '../../store/tables/outbox.ts';
import {
  changeRegression,
  type Regression,
  runningRegressions,
  takeRegression,
} from '../../store/tables/replay/regressions.ts';
import { launchedAs } from '../../store/tables/replay/replays.ts';
import type { PlanDeps } from '../replay/plan-step.ts';
import type { Replays } from '../replay/replay.ts';
import { replayedMember } from '../views/analytics/regression-members.ts';
import { type Ready, readyToReplay } from './ready.ts';

export interface WatchDeps extends Omit<PlanDeps, 'database'> {
  database: Pick<Database, 'db' | 'write'>;
  /** `replay.regression` of the configuration. */
  regressions: readonly RegressionEntry[];
  start: Replays['start'];
  regressionAlert(alert: RegressionAlert): Notification;
  /** Messages were stored: send them sooner. */
  sendSoon(): void;
  /** `server.public_url`. */
  publicUrl: string | null;
  log: { info(fields: object, msg: string): void; warn(fields: object, msg: string): void };
  now(): number;
}

/** Without a sign of life for so long, a replay counts as crashed and its alert goes out. */
export const GRACE_MS = 120_000;
const BEAT_MS = 15_000;
/** An entry that left the configuration while its replay ran. */
const DEFAULT_RULE = { alertOnRegressed: 1, alertOnAccuracyDrop: 0.1, notify: null };

export interface RegressionWatch {
  /** Says in the log which entries are registered, and why others are not. */
  check(): Promise<void>;
  /** Starts the replays that became due in `(since, until]`, and ends those that are over. */
  fireDue(since: number, until: number): Promise<void>;
}

/** Scheduled replays of golden sets (Orchestration 4.6). What goes on is in the store, so that any process can end it. */
export function createRegressionWatch(deps: WatchDeps): RegressionWatch {
  const { regressions, log } = deps;
  return {
    check: async () => {
      for (const entry of regressions) {
        const ready = await readyToReplay(deps, entry);
        const about = { golden_set: entry.goldenSet, cron: entry.cron };
        if (ready.ok) log.info({ ...about, members: ready.members.length }, 'scheduled replay registered');
        else log.warn({ ...about, reason: ready.reason }, 'scheduled replay refused');
      }
    },
    fireDue: async (since, until) => {
      const failed = await handleEach(regressions, async (entry) => {
        const at = latestOf({ cron: entry.cron, timezone: 'Etc/UTC' }, since, until);
        if (at !== null) await fire(deps, entry, at);
      });
      for (const { one, error } of failed)
        log.warn({ err: error, golden_set: one.goldenSet }, 'a scheduled replay could not be started');
      const unseen = await handleEach(await runningRegressions(deps.database.db), (row) => look(deps, row));
      // The next look takes the same time again; what was started does not start twice.
      const [first] = [...failed, ...unseen];
      if (first) throw first.error;
    },
  };
}

async function fire(deps: WatchDeps, entry: RegressionEntry, at: number): Promise<void> {
  const about = { golden_set: entry.goldenSet, scheduled_for: new Date(at).toISOString() };
  const ready = await readyToReplay(deps, entry);
  if (!ready.ok) return deps.log.warn({ ...about, reason: ready.reason }, 'scheduled replay refused');
  const now = deps.now();
  const row: Regression = { ...NEW, id: newId(now), setId: ready.set.id, fireAt: at, startedAt: now, beatAt: now };
  row.nMembers = ready.members.length;
  const taken = await deps.database.write(async (tx) => {
    if (!(await takeRegression(tx, row))) return false;
    // Stored before the replay begins, so that a crash is heard of.
    const crash = crashAlert(deps, { row, set: ready.set, reason: 'The replay did not come to its end.' });
    await insertDelayed(tx, crash, now + GRACE_MS);
    return true;
  });
  if (!taken) return;
  await launch(deps, row, ready);
  deps.log.info({ ...about, regression_id: row.id }, 'scheduled replay started');
}

async function launch(deps: WatchDeps, row: Regression, { request }: Extract<Ready, { ok: true }>): Promise<void> {
  try {
    const runId = await deps.start({ ...request, launch: { key: keyOf(row), hash: row.id } });
    await deps.database.write((tx) => changeRegression(tx, row.id, { runId }));
  } catch (error) {
    await crashed(deps, row, error instanceof Error ? error.message : 'the replay could not be started');
  }
}

/** A replay is started once, whatever the process that took the fire lives to see. */
const keyOf = ({ id }: Regression): string => `regression:${id}`;

/** One look at a replay that goes on: ended, crashed, or alive. */
async function look(deps: WatchDeps, row: Regression): Promise<void> {
  const { db, write } = deps.database;
  const now = deps.now();
  if (row.runId === null) {
    const launched = await launchedAs(db, keyOf(row));
    if (launched) await write((tx) => changeRegression(tx, row.id, { runId: launched.runId }));
    else if (now - row.beatAt > GRACE_MS) await crashed(deps, row, 'the process that started the replay died');
    return;
  }
  const status = (await readStatus(db, row.runId)) as RunStatus | null;
  if (status === null) return crashed(deps, row, 'the run of the replay is gone');
  if (status === 'completed') return settle(deps, row, row.runId);
  if (isTerminal(status)) return crashed(deps, row, `the run of the replay ended as ${status}`);
  if (now - row.beatAt < BEAT_MS) return;
  await write(async (tx) => {
    if (await changeRegression(tx, row.id, { beatAt: now }))
      await postponeNotification(tx, crashId(row), now + GRACE_MS);
  });
}

/** Stores the figures, and the alert where somebody has to hear of them. */
async function settle(deps: WatchDeps, row: Regression, runId: string): Promise<void> {
  const samples = await regressionSamples(deps.database.db, runId);
  const set = await findGoldenSet(deps.database.db, { id: row.setId });
  if (samples === null || set === null) return crashed(deps, row, 'the samples of the replay are gone');
  const members = samples.map(replayedMember);
  const all = regressionFigures(members);
  const { nFailed: _, accuracyDrop: __, ...figures } = all;
  const skips = samples.map(({ judgement }, n) =>
    members[n]?.state === 'ungraded' ? (judgement?.skipped ?? null) : null,
  );
  const alert = alertOf(all, ruleOf(deps, set), skips);
  const ended: Regression = { ...row, ...figures, status: 'completed', completedAt: deps.now(), alert };
  await deps.database.write(async (tx) => {
    if (!(await changeRegression(tx, row.id, ended))) return;
    await dropNotification(tx, crashId(row));
    if (alert !== null)
      await insertNotifications(tx, [messageOf(deps, { row: ended, set, reason: alert, id: row.id })]);
  });
  deps.sendSoon();
}

/** Ends a replay that cannot come to its end; its alert goes out now, unless it has. */
async function crashed(deps: WatchDeps, row: Regression, error: string): Promise<void> {
  const set = await findGoldenSet(deps.database.db, { id: row.setId });
  if (set === null) return;
  const reason = `The replay crashed: ${error}.`;
  const ended: Regression = { ...row, status: 'crashed', completedAt: deps.now(), alert: reason, error };
  const alert = crashAlert(deps, { row: ended, set, reason });
  await deps.database.write(async (tx) => {
    if (!(await changeRegression(tx, row.id, ended))) return;
    await dropNotification(tx, crashId(row));
    await insertNotifications(tx, [alert]);
  });
  deps.log.warn({ golden_set: set.name, regression_id: row.id, error }, 'scheduled replay crashed');
  deps.sendSoon();
}

interface Announced {
  row: Regression;
  set: GoldenSet;
  reason: string;
}

const crashId = ({ id }: Regression): string => `regression/${id}/crash`;
const crashAlert = (deps: WatchDeps, announced: Announced): Notification =>
  messageOf(deps, { ...announced, id: `${announced.row.id}/crash` });

const ruleOf = ({ regressions }: WatchDeps, { name }: GoldenSet) =>
  regressions.find(({ goldenSet }) => goldenSet === name) ?? DEFAULT_RULE;

function messageOf(deps: WatchDeps, { row, set, reason, id }: Announced & { id: string }): Notification {
  const { notify } = ruleOf(deps, set);
  return deps.regressionAlert({
    id: `regression/${id}`,
    at: deps.now(),
    channel: notify?.channel ?? 'log',
    template: notify?.template ?? null,
    step: set.stepName,
    runId: row.runId,
    status: row.status === 'completed' ? 'completed' : 'crashed',
    reason,
    facts: {
      golden_set: set.name,
      n_regressed: row.nRegressed,
      n_members: row.nMembers,
      fresh_accuracy: row.freshAccuracy,
      report_url: `${deps.publicUrl?.replace(/\/+$/, '') ?? ''}/ui/regressions/${row.id}`,
    },
  });
}

const NEW = {
  status: 'running',
  runId: null,
  completedAt: null,
  nMembers: 0,
  nRegressed: null,
  nImproved: null,
  nGraded: null,
  nUnreplayable: null,
  nUnlabelled: null,
  nDivergences: null,
  baselineAccuracy: null,
  freshAccuracy: null,
  alert: null,
  error: null,
} as const;
