import type { Config } from './config/config.ts';
import { type Calibration, createCalibration } from './runs/calibrated-means.ts';
import { labelledExecutions } from './store/calibration.ts';
import type { Database } from './store/database.ts';

/** What people's marks say of confidences, for the gate, the routes and the pages. */
export function wireCalibration({ calibration }: Pick<Config, 'calibration'>, database: Database): Calibration {
  // A gate never waits behind what people look at.
  const from = (signal: AbortSignal | undefined) => (signal ? database.reader(signal) : database.db);
  return createCalibration((stepName, signal) => labelledExecutions(from(signal), { stepName, stage: 'production' }), {
    ttlSeconds: calibration.cacheTtlSeconds,
    rule: calibration,
    now: () => Date.now(),
  });
}
