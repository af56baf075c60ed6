import type { Bucket } from '../../analytics/calibration.ts';

/** A calibration bucket (Orchestration 2.9), for routes and pages alike. */
export const bucketView = (bucket: Bucket) => ({
  agent: bucket.agent,
  provider: bucket.provider,
  model: bucket.model,
  prompt_hash: bucket.promptHash,
  agent_version: bucket.agentVersion,
  total_n: bucket.totalN,
  bins: bucket.bins.map(({ lo, hi, n, meanLabel, validated }) => ({ lo, hi, n, mean_label: meanLabel, validated })),
  recommendation: bucket.recommendation,
});
