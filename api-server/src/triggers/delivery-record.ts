/** What becomes of a delivery as a whole. */
export const DELIVERY_OUTCOMES = [
  'accepted',
  'queued',
  'deduplicated',
  'skipped_testing',
  'suspended',
  'no_pipeline',
  'at_capacity',
  'invalid',
] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/**
 * What becomes of one alert. `run`: a run is about it. `merged`: a run of this delivery covers it. `suppressed`: an earlier
 * run does. `no_pipeline`: nothing matches it. `refused`: it was not looked at for another reason.
 */
export const FATES = ['run', 'merged', 'suppressed', 'no_pipeline', 'refused'] as const;
export type Fate = (typeof FATES)[number];

/** An alert as its sender named it; `status` only where the source has one. */
export interface AlertNote {
  fingerprint: string | null;
  status: string | null;
  labels: Record<string, string>;
}

export interface AlertFate extends AlertNote {
  fate: Fate;
  runId: string | null;
  reason: string | null;
}

/** A pipeline that almost matched: the first rule that failed. */
export interface ClosestPipeline {
  pipeline: string;
  failedRule: string;
  expected: unknown;
  actual: unknown;
}

/** A delivery with what became of it. Times in milliseconds. */
export interface DeliveryRecord {
  receivedAt: number;
  source: string;
  outcome: DeliveryOutcome;
  statusCode: number;
  pipeline: string | null;
  /** The first of several. */
  runId: string | null;
  summary: string | null;
  severity: string | null;
  labels: Record<string, string>;
  fingerprint: string | null;
  detail: string | null;
  tokenName: string | null;
  team: string | null;
  strategy: string | null;
  allowTesting: boolean;
  /** Null where the one alert is what the delivery is about. */
  alerts: readonly AlertFate[] | null;
  closest: readonly ClosestPipeline[];
  /** The body as JSON; null where the run has it. */
  raw: string | null;
  rawTruncated: boolean;
}
