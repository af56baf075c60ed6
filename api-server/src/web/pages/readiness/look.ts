import type { StatusLook } from '../status.ts';
import type { ReadinessVerdict } from '../../../service/views/readiness.ts';

const LOOKS: Record<ReadinessVerdict, StatusLook> = {
  ready: { icon: 'completed', word: 'Ready', tone: 'good' },
  not_ready: { icon: 'failed', word: 'Not ready', tone: 'bad' },
  building: { icon: 'queued', word: 'Collecting evidence', tone: 'wait' },
  no_data: { icon: 'pending', word: 'No data', tone: 'quiet' },
  not_configured: { icon: 'half', word: 'Not required', tone: 'quiet' },
};

const NOT_LOOKED_AT: StatusLook = { icon: 'pending', word: 'Not assessed', tone: 'quiet' };

/** How a verdict looks: icon, word and tone together; null is one that was not made yet. */
export const verdictLook = (verdict: ReadinessVerdict | null): StatusLook =>
  verdict === null ? NOT_LOOKED_AT : LOOKS[verdict];
