import type { Verdict } from '../../triggers/model.ts';

/** The combined verdict: one new run makes it `accepted`. */
const PRECEDENCE: readonly Verdict['status'][] = [
  'accepted',
  'queued',
  'deduplicated',
  'suspended',
  'skipped_testing',
  'at_capacity',
  'unavailable',
  'no_pipeline',
];

/** What the delivery as a whole is answered. */
export function headOf(verdicts: readonly Verdict[]): Verdict {
  for (const status of PRECEDENCE) {
    const found = verdicts.find((verdict) => verdict.status === status);
    if (found) return found;
  }
  return { status: 'no_pipeline', message: 'the delivery contains no alert' };
}
