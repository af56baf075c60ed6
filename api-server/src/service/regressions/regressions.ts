import type { RegressionEntry, ReplayConfig } from '../../config/config.ts';
import { nextOf } from '../../schedules/fires.ts';
import { regressionSamples } from '../../store/aggregates/regression-rows.ts';
import { findGoldenSet } from '../../store/tables/replay/golden-sets.ts';
import { findRegression, regressionsOf } from '../../store/tables/replay/regressions.ts';
import { unknownId } from '../fields.ts';
import { iso } from '../views/answer.ts';
import {
  type RegressionList,
  type RegressionReport,
  regressionReportView,
  type RegressionSchedule,
  regressionView,
} from '../views/analytics/regression.ts';
import { readyToReplay } from './ready.ts';
import { createRegressionWatch, type RegressionWatch, type WatchDeps } from './watch.ts';

export interface RegressionsDeps extends WatchDeps {
  replaySettings: ReplayConfig;
}

/** Scheduled replays of golden sets and their reports (Orchestration 4.6). */
export interface Regressions {
  /** The schedule of a set and its last replays, the newest first. Throws `not_found`. */
  ofSet(setId: string): Promise<RegressionList>;
  /** Throws `not_found`. */
  report(id: string): Promise<RegressionReport>;
  /** Every entry of the configuration. */
  schedules(): Promise<RegressionSchedule[]>;
  watch: RegressionWatch;
}

/** A chart has room for so many. */
const SHOWN = 60;

export function createRegressions(deps: RegressionsDeps): Regressions {
  const { db } = deps.database;
  const scheduleOf = async (entry: RegressionEntry): Promise<RegressionSchedule> => {
    const ready = await readyToReplay(deps, entry);
    const next = ready.ok ? nextOf({ cron: entry.cron, timezone: 'Etc/UTC' }, deps.now()) : null;
    return {
      golden_set: entry.goldenSet,
      cron: entry.cron,
      next_at: next === null ? null : iso(next),
      refused: ready.ok ? null : ready.reason,
      judged: deps.replaySettings.judge !== null,
    };
  };
  return {
    ofSet: async (setId) => {
      const set = await findGoldenSet(db, { id: setId });
      if (set === null) throw unknownId('golden set');
      const entry = deps.regressions.find(({ goldenSet }) => goldenSet === set.name);
      return {
        schedule: entry ? await scheduleOf(entry) : null,
        regressions: (await regressionsOf(db, setId, SHOWN)).map(regressionView),
      };
    },
    report: async (id) => {
      const found = await findRegression(db, id);
      const set = found && (await findGoldenSet(db, { id: found.setId }));
      if (found === null || set === null) throw unknownId('regression');
      const samples = found.runId === null ? null : await regressionSamples(db, found.runId);
      return regressionReportView(found, set, samples);
    },
    schedules: () => Promise.all(deps.regressions.map(scheduleOf)),
    watch: createRegressionWatch(deps),
  };
}
