import { AppError } from '@signalbox/crds';
import { route, type Route } from '../route.ts';

export interface ServiceRoutesDeps {
  version: string;
  /** Runs that execute, and how many may. */
  activeRuns(): number;
  maxRuns: number;
  /** What must hold before traffic may come: true is well. */
  readiness(): Record<'database' | 'database_file' | 'migrations' | 'definitions' | 'accepting', boolean>;
  renderMetrics(): Promise<string>;
  metricsAuth: boolean;
}

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="13" y="2" width="6" height="28" rx="2" fill="#667"/><circle cx="16" cy="9" r="6" fill="#d33"/><circle cx="16" cy="22" r="6" fill="#2a6"/></svg>';

/** Probes, metrics and the icon (Orchestration 4.3, Design 5). */
export const serviceRoutes = (deps: ServiceRoutesDeps): Route[] => [
  route({
    method: 'GET',
    url: '/health',
    role: 'none',
    summary: 'Whether the process lives; depends on nothing',
    handler: () => ({
      status: 'ok',
      version: deps.version,
      active_runs: deps.activeRuns(),
      max_concurrent_runs: deps.maxRuns,
    }),
  }),
  route({
    method: 'GET',
    url: '/ready',
    role: 'none',
    summary: 'Whether traffic may come',
    handler: () => {
      const failing = Object.entries(deps.readiness()).flatMap(([check, well]) => (well ? [] : [check]));
      if (failing.length > 0)
        throw new AppError('unavailable', `not ready: ${failing.join(', ')}`, { extra: { failing } });
      return { status: 'ready' };
    },
  }),
  route({
    method: 'GET',
    url: '/metrics',
    role: deps.metricsAuth ? 'viewer' : 'none',
    summary: 'Metrics in the text exposition format',
    handler: async ({ reply }) =>
      reply.type('text/plain; version=0.0.4; charset=utf-8').send(await deps.renderMetrics()),
  }),
  route({
    method: 'GET',
    url: '/favicon.svg',
    role: 'none',
    summary: 'The icon',
    handler: ({ reply }) => reply.header('cache-control', 'public, max-age=86400').type('image/svg+xml').send(ICON),
  }),
];
