import type { Config } from '../../config/config.ts';
import { type Calibration, createCalibration } from '../../analytics/calibrated-means.ts';
import { labelledExecutions } from '../../store/aggregates/calibration.ts';
import type { Database } from '../../store/db/database.ts';

/** How long a gate waits for a free database reader before it reads on the main thread, which blocks the event loop. */
const GATE_WAITS_MS = 5_000;

/** Calibration from the marks of people, for the gate, the routes and the pages. */
export function wireCalibration({ calibration }: Pick<Config, 'calibration'>, database: Database): Calibration {
  const read = (from: Database['db'], stepName: string) => labelledExecutions(from, stepName, 'production');
  const forGate = (stepName: string) =>
    read(database.reader(AbortSignal.timeout(GATE_WAITS_MS)), stepName).catch(() => read(database.db, stepName));
  return createCalibration(
    (stepName, signal) => (signal ? read(database.reader(signal), stepName) : forGate(stepName)),
    { ttlSeconds: calibration.cacheTtlSeconds, rule: calibration, now: () => Date.now() },
  );
}
