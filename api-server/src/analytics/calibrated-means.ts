import { LRUCache } from 'lru-cache';
import { calibratedMean, type CalibrationRule, type Labelled } from './calibration.ts';
import type { CalibrationQuery } from '../runs/evidence/evidence.ts';

/** All that is known of a step's marked production executions; people, who may give up, wait where the gate does not. */
type Read = (stepName: string, signal?: AbortSignal) => Promise<readonly Labelled[]>;

export interface CalibrationOptions {
  /** How long the gate reuses what was read, in seconds; 0 reads every time. */
  ttlSeconds: number;
  rule: CalibrationRule;
  now(): number;
}

export interface Calibration {
  /** For the gate: the measured share of correct answers at a confidence, null while its bin is not validated. */
  meanOf(query: CalibrationQuery): Promise<number | null>;
  /** For people: as it is now, which is also what the gate goes by from then on. */
  read: Read;
}

/** Steps remembered at most. */
const MAX_STEPS = 200;

/** Reads each step once in a while: marks that came since count after that (Orchestration 2.13). */
export function createCalibration(read: Read, { ttlSeconds, rule, now }: CalibrationOptions): Calibration {
  const known = new LRUCache<string, readonly Labelled[]>({
    max: MAX_STEPS,
    ttl: ttlSeconds * 1000,
    ttlResolution: 0,
    perf: { now },
  });
  const readNow: Read = async (stepName, signal) => {
    const rows = await read(stepName, signal);
    if (ttlSeconds > 0) known.set(stepName, rows);
    return rows;
  };
  const reading = new Map<string, Promise<readonly Labelled[]>>();
  /** Steps that reach their gates together wait for one read. */
  const recall = (stepName: string): Promise<readonly Labelled[]> => {
    const found = known.get(stepName);
    if (found) return Promise.resolve(found);
    const begun = reading.get(stepName) ?? readNow(stepName).finally(() => reading.delete(stepName));
    reading.set(stepName, begun);
    return begun;
  };
  return {
    meanOf: async (query) => calibratedMean(await recall(query.stepName), query, rule),
    read: readNow,
  };
}
