import { AppError } from '@signalbox/crds';
import type { Health, Ready } from '../views/service.ts';

export interface StatusDeps {
  version: string;
  /** Runs that execute, and how many may. */
  activeRuns(): number;
  maxRuns: number;
  /** What must hold before traffic may come: true is well. */
  readiness(): Record<'database' | 'database_file' | 'migrations' | 'definitions' | 'accepting', boolean>;
  renderMetrics(): Promise<string>;
}

/** How the service is (Orchestration 4.3). */
export interface Status {
  health(): Health;
  /** Throws `unavailable` naming what fails. */
  ready(): Ready;
  renderMetrics(): Promise<string>;
}

export const createStatus = ({ version, activeRuns, maxRuns, readiness, renderMetrics }: StatusDeps): Status => ({
  health: () => ({ status: 'ok', version, active_runs: activeRuns(), max_concurrent_runs: maxRuns }),
  ready: () => {
    const failing = Object.entries(readiness()).flatMap(([check, well]) => (well ? [] : [check]));
    if (failing.length > 0)
      throw new AppError('unavailable', `not ready: ${failing.join(', ')}`, { extra: { failing } });
    return { status: 'ready' };
  },
  renderMetrics,
});
