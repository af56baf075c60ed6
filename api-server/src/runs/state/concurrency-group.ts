import type { Concurrency } from '@signalbox/crds';

/** Runs of one pipeline, or of one key of it, that share a limit. */
export interface ConcurrencyGroup {
  key: string;
  limit: number;
  onLimit: Concurrency['on_limit'];
}
