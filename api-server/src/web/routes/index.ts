import { describeApi } from '../openapi.ts';
import { route, type Route } from '../route.ts';
import { approvalRoutes, type ApprovalRoutesDeps } from './approvals.ts';
import { auditRoutes, type AuditRoutesDeps } from './audit.ts';
import { definitionWriteRoutes, type DefinitionWriteDeps } from './definition-writes.ts';
import { definitionRoutes, type DefinitionRoutesDeps } from './definitions.ts';
import { feedbackRoutes, type FeedbackRoutesDeps } from './feedback.ts';
import { operationRoutes, type OperationRoutesDeps } from './operations.ts';
import { readinessRoutes, type ReadinessRoutesDeps } from './readiness.ts';
import { runRoutes, type RunRoutesDeps } from './runs.ts';
import { serviceRoutes, type ServiceRoutesDeps } from './service.ts';
import { statisticsRoutes, type StatisticsRoutesDeps } from './statistics.ts';
import { stepHistoryRoutes, type StepHistoryRoutesDeps } from './step-history.ts';
import { type StreamDeps, streamRoutes } from './stream.ts';
import { type WebhookDeps, webhookRoutes } from './webhook.ts';

export type RoutesDeps = WebhookDeps &
  RunRoutesDeps &
  OperationRoutesDeps &
  ApprovalRoutesDeps &
  FeedbackRoutesDeps &
  DefinitionRoutesDeps &
  DefinitionWriteDeps &
  StepHistoryRoutesDeps &
  ReadinessRoutesDeps &
  AuditRoutesDeps &
  StatisticsRoutesDeps &
  ServiceRoutesDeps &
  StreamDeps;

/** The one table of JSON routes: what is served, what is asked for, what is described and what the role test walks. */
export function routeTable(deps: RoutesDeps): Route[] {
  const table = [
    ...webhookRoutes(deps),
    ...runRoutes(deps),
    ...operationRoutes(deps),
    ...approvalRoutes(deps),
    ...feedbackRoutes(deps),
    ...definitionRoutes(deps),
    ...definitionWriteRoutes(deps),
    ...statisticsRoutes(deps),
    ...stepHistoryRoutes(deps),
    ...readinessRoutes(deps),
    ...auditRoutes(deps),
    ...serviceRoutes(deps),
    ...streamRoutes(deps),
  ];
  const description: Route = route({
    method: 'GET',
    url: '/openapi.json',
    role: 'viewer',
    summary: 'This description',
    handler: () => describeApi([...table, description], deps.version),
  });
  return [...table, description];
}
