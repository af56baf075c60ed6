import type { Services } from '../../service/services.ts';
import { Health, Ready } from '../../service/views/service.ts';
import { route, type Route } from '../route.ts';

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="13" y="2" width="6" height="28" rx="2" fill="#667"/><circle cx="16" cy="9" r="6" fill="#d33"/><circle cx="16" cy="22" r="6" fill="#2a6"/></svg>';

/** Probes, metrics and the icon (Orchestration 4.3). */
export const serviceRoutes = ({
  status,
  metricsAuth,
}: Pick<Services, 'status'> & { metricsAuth: boolean }): Route[] => [
  route({
    method: 'GET',
    url: '/health',
    role: 'none',
    id: 'getHealth',
    tag: 'service',
    summary: 'Liveness of the process; checks no dependency',
    answers: { 200: Health },
    handler: () => status.health(),
  }),
  route({
    method: 'GET',
    url: '/ready',
    role: 'none',
    id: 'getReady',
    tag: 'service',
    summary: 'Readiness for traffic',
    answers: { 200: Ready },
    refusals: ['unavailable'],
    handler: () => status.ready(),
  }),
  route({
    method: 'GET',
    url: '/metrics',
    role: metricsAuth ? 'viewer' : 'none',
    id: 'getMetrics',
    tag: 'service',
    summary: 'Metrics in the text exposition format',
    answers: { 200: { mediaType: 'text/plain', example: 'service_pipeline_runs_in_progress 2\n' } },
    handler: async ({ reply }) =>
      reply.type('text/plain; version=0.0.4; charset=utf-8').send(await status.renderMetrics()),
  }),
  route({
    method: 'GET',
    url: '/favicon.svg',
    role: 'none',
    id: 'getIcon',
    tag: 'service',
    summary: 'The icon',
    answers: { 200: { mediaType: 'image/svg+xml', example: '<svg xmlns="http://www.w3.org/2000/svg"/>' } },
    handler: ({ reply }) => reply.header('cache-control', 'public, max-age=86400').type('image/svg+xml').send(ICON),
  }),
];
