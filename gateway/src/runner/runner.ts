import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RpcRequest, rpcError } from '@signalbox/crds';
import { createCompute } from '@signalbox/crds/process/compute';
import { fairServer } from '@signalbox/crds/process/fair-connections';
import type { AgentRecord } from '../agents/agent-record.ts';
import { createRunnerAuthenticate } from '../identity/runner-token.ts';
import type { Log } from '../observability/log.ts';
import { createRefusalLog } from '../observability/refusal-log.ts';
import { createMethods } from '../rpc/methods.ts';
import type { RpcReply } from '../rpc/one-frame.ts';
import { RpcServer } from '../rpc/rpc-server.ts';
import type { Run, RunWatcher } from '../runs/run.ts';
import { schedule } from '../tools/schedule.ts';
import { runAgent, type RunJob } from '../runs/run-agent.ts';
import { RunService } from '../runs/run-service.ts';
import { Announcer } from './announcer.ts';
import { gatewayOf } from './ask-gateway.ts';
import { PodTools } from './pod-tools.ts';
import { RUNNER_CONFIGURE, RUNNER_FRAME, RunnerConfiguration } from './protocol.ts';
import type { RunnerSettings } from './settings.ts';

export interface RunnerOptions {
  settings: RunnerSettings;
  version: string;
  log: Log;
}
export interface RunningRunner {
  url: string;
  close: () => Promise<void>;
}

/** The default of the gateway's `security.compute_timeout_ms`. */
const COMPUTE_TIMEOUT_MS = 1000;
/** The gateway's own limits apply before a run is sent here, and so does its bound of requests. */
const MAX_RUNS = 1000;
const ANNOUNCE_EVERY_MS = 5000;
const PING_TOOLS_MS = 30_000;
const PING_TIMEOUT_MS = 5000;

/** The agent as the gateway of one connection configured it. */
interface Configured extends RunnerConfiguration {
  record: AgentRecord;
}

/** Hosts the run loop of one agent in its pod, behind the same `/rpc` as the gateway's. */
export async function startRunner({ settings, version, log }: RunnerOptions): Promise<RunningRunner> {
  const logRefusal = createRefusalLog(log);
  const onBug = (error: unknown) => log.error({ err: error }, 'unexpected error');
  const byConnection = new WeakMap<RunWatcher, Configured>();
  const byRecord = new WeakMap<AgentRecord, Configured>();
  let latest: Configured | null = null;
  /** The configuration of the connection whose request is being submitted. */
  let current: Configured | null = null;
  let draining = false;
  const podTools = new PodTools({
    random: Math.random,
    now: () => new Date(),
    schedule,
    pingEveryMs: PING_TOOLS_MS,
    pingTimeoutMs: PING_TIMEOUT_MS,
    onTransition: (server, state, reason) => {
      log.info({ server, state, reason }, 'tool server');
      announcer.announce();
    },
    onChangedTools: (server, tools_hash) =>
      log.warn({ server, tools_hash }, 'tool definitions differ from the pinned ones'),
  });
  const announcer = new Announcer(() => ({ draining, tools: podTools.tools() }), ANNOUNCE_EVERY_MS);
  const compute = createCompute({ timeoutMs: COMPUTE_TIMEOUT_MS });
  const runs = new RunService({
    compute,
    agent: (name) => (name === settings.agent ? current?.record : undefined),
    agentNames: () => [settings.agent],
    modelProblem: () => null,
    // The gateway knows which models are asked.
    route: () => null,
    tools: (agent) => [...(byRecord.get(agent)?.tools ?? []), ...podTools.tools()],
    whenRunning: (names, ms, signal) => podTools.whenRunning(names, ms, signal),
    perform: (job, run) => perform({ job, run, configured: byRecord.get(job.agent), podTools }),
    limits: { maxConcurrentRuns: MAX_RUNS, maxQueuedRuns: 0, maxWaitingApprovals: MAX_RUNS },
    keyedRunsOutliveWatchers: false,
    newId: ({ idempotency_key }) => idempotency_key ?? randomUUID(),
    now: Date.now,
    onFinished: ({ agent, status, seconds }) => log.debug({ agent, status, seconds }, 'run ended'),
    onBug,
  });
  const methods = createMethods({
    version,
    listAgents: () => (latest ? [summaryOf(latest.record)] : []),
    join: (params, watcher) => runs.join(params, watcher),
    submit: (params, watcher) => {
      current = byConnection.get(watcher) ?? null;
      return runs.submit(params, watcher);
    },
    find: (reference, watcher) => runs.find(reference, watcher),
    cancel: (run, message) => runs.cancel(run, message),
  });
  const configure = ({ params }: RpcRequest, watcher: RunWatcher): RpcReply => {
    const parsed = RunnerConfiguration.safeParse(params);
    if (!parsed.success || parsed.data.agent.config.name !== settings.agent)
      return { ok: false, error: rpcError('invalid_params', 'the configuration is not valid or is for another agent') };
    const configured = { ...parsed.data, record: recordOf(parsed.data) };
    byConnection.set(watcher, configured);
    byRecord.set(configured.record, configured);
    latest = configured;
    podTools.configure(configured);
    announcer.add(watcher);
    log.info({ agent: settings.agent, agent_version: configured.record.version }, 'configured');
    return { ok: true, result: { configured: true } };
  };
  const rpc = new RpcServer({
    authenticate: createRunnerAuthenticate({ ...settings, keys: settings.publicKeys, now: Date.now }),
    allowedOrigins: [],
    ...RUNNER_FRAME,
    call: async (request, watcher, bytes) =>
      request.method === RUNNER_CONFIGURE ? configure(request, watcher) : methods(request, watcher, bytes),
    onGone: (watcher) => {
      announcer.remove(watcher);
      runs.unwatch(watcher);
    },
    onAuthFailure: (reason, { address }) => logRefusal({ reason, address }),
    onBug,
  });

  const server = healthServer(() => ({ status: 'ok', agent: settings.agent, version, active_runs: runs.active() }));
  rpc.attach(server);
  server.listen({ host: settings.host, port: settings.port });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${settings.host}:${port}`,
    close: async () => {
      draining = true;
      announcer.announce();
      await runs.drain(settings.drainSeconds * 1000);
      announcer.close();
      await Promise.all([rpc.close(), podTools.stop(), compute.close()]);
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Work {
  job: RunJob;
  run: Run;
  configured: Configured | undefined;
  podTools: PodTools;
}

/** The same loop as in the gateway; models, policy and the gateway's tools are requested from it. */
function perform({ job, run, configured, podTools }: Work): ReturnType<typeof runAgent> {
  if (!configured) throw new Error('a run began without a configuration');
  const { limits } = configured;
  const gateway = gatewayOf(run, job.signal);
  return runAgent(job, {
    generate: gateway.generate,
    maxIterations: limits.max_iterations,
    door: {
      decide: ({ server, tool, input, callId }) => gateway.decide({ server, tool, input, callId }),
      call: (server, tool, input, options) =>
        (podTools.has(server) ? podTools.call : gateway.call)(server, tool, input, options),
      requestApproval: (request, signal) => run.requestApproval(request, signal),
      onCall: () => {},
      toolTimeoutMs: limits.tool_timeout_ms,
      resultMaxChars: limits.tool_result_max_chars,
    },
  });
}

/** For the pod's probes. */
function healthServer(health: () => object): Server {
  return fairServer((request, response) => {
    const isHealth = request.method === 'GET' && request.url === '/health';
    response.writeHead(isHealth ? 200 : 404, { 'content-type': 'application/json' });
    response.end(
      isHealth ? JSON.stringify(health()) : '{"detail":{"type":"not_found","message":"there is no such route"}}',
    );
  });
}

function recordOf({ agent }: RunnerConfiguration): AgentRecord {
  const { config, soul, version } = agent;
  return { name: config.name, version, config, agentYaml: '', soul, managedBy: null };
}

function summaryOf({ name, version, config }: AgentRecord) {
  return { name, model: config.model, description: config.description, tags: config.tags, version };
}
