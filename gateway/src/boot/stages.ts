import type { Compute } from '@signalbox/crds/process/compute';
import type { Tracing } from '@signalbox/crds/process/tracing';
import type { LoadReport } from '../agents/registry.ts';
import type { AppDeps } from '../http/app.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { PolicyResult } from '../policy/policy.ts';
import type { RunService } from '../runs/run-service.ts';
import type { OpenedAgents } from './agents.ts';
import type { OpenedIsolation } from './isolation.ts';
import type { OpenedModels } from './models.ts';
import type { Pods } from './pods.ts';
import type { Door } from './runs.ts';
import type { GatewayOptions } from './start-gateway.ts';
import type { OpenedTools } from './tools.ts';

/** All parts of the gateway; each stage of the start takes what earlier stages made. */
export interface Stages extends GatewayOptions {
  compute: Compute;
  metrics: Metrics;
  policy: Extract<PolicyResult, { ok: true }>;
  models: OpenedModels;
  agents: OpenedAgents;
  tracing: Tracing | null;
  isolation: OpenedIsolation;
  tools: OpenedTools;
  door: Door;
  /** Null where no agent has its own pod. */
  pods: Pods | null;
  runs: RunService;
  reload: () => LoadReport;
  access: Pick<AppDeps, 'authenticate' | 'onAuthFailure'> & { onBug: (error: unknown, about?: unknown) => void };
}
