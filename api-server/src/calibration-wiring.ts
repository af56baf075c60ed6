import type { Config } from './config/config.ts';
import { type Calibration, createCalibration } from './runs/calibrated-means.ts';
import { labelledExecutions } from './store/calibration.ts';
import type { Database } from './store/database.ts';

/** What people's marks say of confidences, for the gate, the routes and the pages. */
export const wireCalibration = ({ calibration }: Pick<Config, 'calibration'>, { db }: Database): Calibration =>
  createCalibration((stepName) => labelledExecutions(db, { stepName, stage: 'production' }), {
    ttlSeconds: calibration.cacheTtlSeconds,
    rule: calibration,
    now: () => Date.now(),
  });
