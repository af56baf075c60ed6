import type { Verdict } from '../../triggers/model.ts';

/** The combined verdict: one new run makes it `accepted`, else one alert without room has the sender repeat it. */
const PRECEDENCE: readonly Verdict['status'][] = [
  'accepted',
  'queued',
  'at_capacity',
  'deduplicated',
  'suspended',
  'skipped_testing',
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
