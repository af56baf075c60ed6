import { randomUUID } from 'node:crypto';
import type { Tracing } from '@signalbox/crds/process/tracing';
import type { GatewayConfig } from '../config/schema.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { DecidePolicy } from '../policy/policy.ts';
import { runAgent } from '../runs/run-agent.ts';
import { RunService } from '../runs/run-service.ts';
import type { DoorDeps } from '../runs/tool-door.ts';
import { tracedCall } from '../runs/traced.ts';
import type { ToolServers } from '../tools/tool-servers.ts';
import type { OpenedAgents } from './agents.ts';
import type { OpenedModels } from './models.ts';
import type { Pods } from './pods.ts';
import type { OpenedTools } from './tools.ts';

interface DoorOptions {
  config: GatewayConfig;
  policy: { decide: DecidePolicy };
  servers: ToolServers;
  metrics: Metrics;
}

/** The way of every run to a tool; who approves a call depends on the run. */
export type Door = Omit<DoorDeps, 'requestApproval' | 'decide'> & { decide: DecidePolicy };

export function openDoor({ config: { limits }, policy, servers, metrics }: DoorOptions): Door {
  return {
    decide: policy.decide,
    call: tracedCall(servers.call.bind(servers)),
    onCall: (call) => metrics.toolCall(call),
    toolTimeoutMs: limits.tool_timeout_seconds * 1000,
    resultMaxChars: limits.tool_result_max_chars,
  };
}

interface RunsOptions {
  config: GatewayConfig;
  models: OpenedModels;
  tools: OpenedTools;
  agents: OpenedAgents;
  pods: Pods | null;
  door: Door;
  tracing: Tracing | null;
  metrics: Metrics;
  log: Log;
  onBug: (error: unknown) => void;
}

/** Runs of all agents: in this process, or in the agent's pod. */
export function openRuns({ config: { limits }, models, tools, agents, pods, door, tracing, ...rest }: RunsOptions) {
  const { metrics, log, onBug } = rest;
  return new RunService({
    agent: (name) => agents.registry.get(name),
    agentNames: () => agents.registry.list().map(({ name }) => name),
    modelProblem: agents.known.modelProblem,
    tools: () => tools.servers.tools(),
    whenRunning: (names, ms, signal) => tools.servers.whenRunning(names, ms, signal),
    whenReady: (agent, signal) => (pods && agents.hasPod(agent) ? pods.whenReady(agent, signal) : null),
    perform: (job, run) => {
      if (pods && agents.hasPod(job.agent)) return pods.perform(job, run);
      const requestApproval: DoorDeps['requestApproval'] = (request, signal) => run.requestApproval(request, signal);
      const { max_iterations: maxIterations } = limits;
      return runAgent(job, { generate: models.generate, maxIterations, door: { ...door, requestApproval } });
    },
    limits: {
      maxConcurrentRuns: limits.max_concurrent_runs,
      maxQueuedRuns: limits.max_queued_runs,
      maxWaitingApprovals: limits.max_waiting_approvals,
    },
    keyedRunsOutliveWatchers: true,
    startSpan: tracing?.startSpan,
    newId: () => randomUUID(),
    now: Date.now,
    onFinished: (ended) => {
      metrics.runFinished(ended);
      log.debug(ended, 'run ended');
    },
    onBug,
  });
}
