import { randomUUID } from 'node:crypto';
import { runAgent } from '../runs/run-agent.ts';
import { RunService } from '../runs/run-service.ts';
import { TalkRoom } from '../runs/talk-room.ts';
import type { DoorDeps } from '../runs/tool-door.ts';
import { tracedCall } from '../runs/traced.ts';
import type { Stages, Door } from './stages.ts';

export function openDoor({
  config: { limits },
  policy,
  tools,
  metrics,
  log,
}: Pick<Stages, 'config' | 'policy' | 'tools' | 'metrics' | 'log'>): Door {
  return {
    decide: policy.decide,
    call: tracedCall(tools.servers.call.bind(tools.servers)),
    onCall: (call) => {
      metrics.toolCall(call);
      // What a pod says of itself it could say without end.
      if (call.run_id !== null) log.info(call, 'tool call');
    },
    toolTimeoutMs: limits.tool_timeout_seconds * 1000,
    resultMaxChars: limits.tool_result_max_chars,
  };
}

/** Runs of all agents: in this process, or in the agent's pod. */
export function openRuns(stages: Omit<Stages, 'runs' | 'reload'>) {
  const { compute, models, tools, agents, pods, door, tracing, metrics, log } = stages;
  const { limits } = stages.config;
  const talks = new TalkRoom();
  return new RunService({
    agent: (name) => agents.registry.get(name),
    agentNames: () => agents.registry.list().map(({ name }) => name),
    modelProblem: agents.known.modelProblem,
    route: models.route,
    tools: () => tools.servers.tools(),
    whenRunning: (names, ms, signal) => tools.servers.whenRunning(names, ms, signal),
    whenReady: (agent, signal) => (pods && agents.hasPod(agent) ? pods.whenReady(agent, signal) : null),
    perform: (job, run) => {
      const { grow: onTalk, leave } = talks.enter(run);
      if (pods && agents.hasPod(job.agent)) return pods.perform(job, run, onTalk).finally(leave);
      const requestApproval: DoorDeps['requestApproval'] = (request, signal) => run.requestApproval(request, signal);
      const inSlot: DoorDeps['inSlot'] = (call) => run.working(call);
      const decide: DoorDeps['decide'] = (call) => door.decide({ ...call, share: job.share });
      const { max_iterations: maxIterations } = limits;
      const ofRun = { ...door, decide, requestApproval, inSlot };
      const host = { generate: models.generate, maxIterations, onTalk, door: ofRun };
      return runAgent(job, host).finally(leave);
    },
    compute,
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
      log.info(ended, 'run ended');
    },
    onBug: stages.access.onBug,
  });
}
