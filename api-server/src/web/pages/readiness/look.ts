import type { StatusLook } from '../status.ts';
import type { ReadinessVerdict } from '../../../service/views/analytics/readiness.ts';

const LOOKS: Record<ReadinessVerdict, StatusLook> = {
  ready: { icon: 'completed', word: 'Ready', tone: 'good' },
  not_ready: { icon: 'failed', word: 'Not ready', tone: 'bad' },
  building: { icon: 'queued', word: 'Collecting evidence', tone: 'wait' },
  no_data: { icon: 'pending', word: 'No data', tone: 'quiet' },
  not_configured: { icon: 'half', word: 'Not required', tone: 'quiet' },
};

const NOT_LOOKED_AT: StatusLook = { icon: 'pending', word: 'Not assessed', tone: 'quiet' };

/** Icon, word and tone of a verdict; null before the first evaluation. */
export const verdictLook = (verdict: ReadinessVerdict | null): StatusLook =>
  verdict === null ? NOT_LOOKED_AT : LOOKS[verdict];
