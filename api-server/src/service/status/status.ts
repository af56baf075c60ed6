import { AppError } from '@signalbox/crds';
import type { Readiness } from '../../observability/watch-readiness.ts';
import type { Health, Ready } from '../views/service.ts';

export interface StatusDeps {
  version: string;
  /** Active runs and their limit. */
  activeRuns(): number;
  /** What operators should know; never part of the status. */
  warnings(): string[];
  maxRuns: number;
  /** The readiness checks; true means passed. */
  readiness(): Readiness;
  renderMetrics(): Promise<Buffer>;
}

/** Health, readiness and metrics of the service (Orchestration 4.3). */
export interface Status {
  health(): Health;
  /** Throws `unavailable` and names the failed checks. */
  ready(): Ready;
  renderMetrics(): Promise<Buffer>;
}

export const createStatus = ({
  version,
  activeRuns,
  maxRuns,
  warnings,
  readiness,
  renderMetrics,
}: StatusDeps): Status => ({
  health: () => ({
    status: 'ok',
    version,
    active_runs: activeRuns(),
    max_concurrent_runs: maxRuns,
    warnings: warnings(),
  }),
  ready: () => {
    const failing = Object.entries(readiness()).flatMap(([check, well]) => (well ? [] : [check]));
    if (failing.length > 0)
      throw new AppError('unavailable', `not ready: ${failing.join(', ')}`, { extra: { failing } });
    return { status: 'ready' };
  },
  renderMetrics,
});
