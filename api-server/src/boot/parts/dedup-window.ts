import type { Problem, ResolvedPipeline } from '@signalbox/crds';
import type { Config } from '../../config/config.ts';

/** A window of a pipeline where deduplication is off, as a warning: its author expects repeats to be recognised. */
export function windowProblems({ name, file, config }: ResolvedPipeline, dedup: Config['dedup']): Problem[] {
  const own = config.trigger?.dedup;
  if (own?.window_seconds === undefined || own.enabled !== undefined || dedup.enabled) return [];
  const msg = 'window_seconds has no effect: the service has no dedup, and enabled is not set here';
  const loc = ['trigger', 'dedup', 'window_seconds'];
  return [{ severity: 'warning', kind: 'Pipeline', name, file, loc, msg, reason: 'invalid' }];
}
