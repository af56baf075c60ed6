import type { Services } from '../../service/services.ts';
import type { ApiDescription } from '../openapi.ts';
import { ApiDocument } from '../../service/views/api-document.ts';
import type { Inject } from '../mcp/call.ts';
import { mcpRoutes } from '../mcp/route.ts';
import { route, type Route } from '../route.ts';
import { approvalRoutes } from './approvals.ts';
import { attentionRoutes } from './attention.ts';
import { auditRoutes } from './audit.ts';
import { bulkRoutes } from './bulk.ts';
import { deliveryRoutes } from './deliveries.ts';
import { definitionWriteRoutes } from './definition-writes.ts';
import { definitionRoutes } from './definitions.ts';
import { exportRoutes } from './exports.ts';
import { feedbackRoutes } from './feedback.ts';
import { goldenSetRoutes } from './golden-sets.ts';
import { notificationRoutes } from './notifications.ts';
import { readinessRoutes } from './readiness.ts';
import { regressionRoutes } from './regressions.ts';
import { replayRoutes } from './replays.ts';
import { runRoutes } from './runs.ts';
import { scheduleRoutes } from './schedules.ts';
import { serviceRoutes } from './service.ts';
import { statisticsRoutes } from './statistics.ts';
import { stepHistoryRoutes } from './step-history.ts';
import { type StreamDeps, streamRoutes } from './stream.ts';
import { webhookRoutes } from './webhook.ts';

export interface RoutesDeps extends Omit<StreamDeps, 'runs'> {
  services: Services;
  version: string;
  metricsAuth: boolean;
  /** Passes a request of a tool to the routes. */
  inject: Inject;
}

export interface RouteTable {
  routes: Route[];
  /** Made once, at the first call. */
  describe(): Promise<ApiDescription>;
}

/** The one table of JSON routes: what is served, what is asked for, what is described and what the role test walks. */
export function routeTable({ services, version, metricsAuth, inject, ...streaming }: RoutesDeps): RouteTable {
  let made: Promise<ApiDescription> | null = null;
  const describe = (): Promise<ApiDescription> => (made ??= describeRoutes(routes, version));
  const routes: Route[] = [
    ...webhookRoutes(services),
    ...deliveryRoutes(services),
    ...runRoutes(services),
    ...bulkRoutes(services),
    ...streamRoutes({ ...services, ...streaming }),
    ...approvalRoutes(services),
    ...notificationRoutes(services),
    ...feedbackRoutes(services),
    ...attentionRoutes(services),
    ...definitionRoutes(services),
    ...definitionWriteRoutes(services),
    ...scheduleRoutes(services),
    ...statisticsRoutes(services),
    ...stepHistoryRoutes(services),
    ...readinessRoutes(services),
    ...goldenSetRoutes(services),
    ...regressionRoutes(services),
    ...replayRoutes(services),
    ...exportRoutes(services),
    ...auditRoutes(services),
    ...serviceRoutes({ ...services, metricsAuth }),
    route({
      method: 'GET',
      url: '/openapi.json',
      role: 'viewer',
      id: 'describeApi',
      tag: 'service',
      summary: 'This description',
      answers: { 200: ApiDocument },
      handler: describe,
    }),
  ];
  routes.push(...mcpRoutes(routes, { version, inject }));
  return { routes, describe };
}

/** The generator is loaded with the first request for it. */
async function describeRoutes(routes: readonly Route[], version: string): Promise<ApiDescription> {
  const { describeApi } = await import('../openapi.ts');
  return describeApi(routes, version);
}
