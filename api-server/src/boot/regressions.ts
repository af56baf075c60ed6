import type { Regressions } from '../service/regressions/regressions.ts';
import { type Clock, createClock } from '../schedules/clock.ts';
import { lastMark, setMark } from '../store/tables/marks.ts';
import type { Foundation } from './foundation.ts';
import type { ServiceOptions } from './options.ts';

const LOOK = 'regressions_looked_at';

/** Looks at the schedules of golden sets, and at the replays that go on. */
export const regressionClock = (
  { config, logs }: ServiceOptions,
  { database, now }: Foundation,
  { watch }: Regressions,
): Clock =>
  createClock({
    fireDue: watch.fireDue,
    busy: () => config.regressions.length > 0,
    lastLook: () => lastMark(database.db, LOOK),
    noteLook: (at) => database.write((tx) => setMark(tx, LOOK, at)),
    catchUpSeconds: config.schedule.catchUpSeconds,
    now,
    log: logs.log,
  });
