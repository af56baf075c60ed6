import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { createSeriesRoom } from './series-room.ts';

/** Values that are read at each scrape. */
export interface MetricsSources {
  activeRuns: () => number;
  queuedRuns: () => number;
  waitingApprovals: () => number;
  agents: () => readonly string[];
  /** Whose an agent is, null for the operator's. All that are not there any more are one's. */
  namespaceOf: (agent: string) => string | null;
  /** Agents without runs may be left out. */
  runsByAgent: () => ReadonlyMap<string, { active: number; queued: number }>;
  connections: () => number;
  servers: () => { name: string; running: boolean; restart_count: number }[];
  /** For each agent with its own pods. */
  pods: () => { agent: string; connected: number }[];
}

const MAX_MODELS = 500;
export const OTHER = 'other';
const SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];
/** A line for each end that a run or a call has, and those of a histogram. */
const LINES = { run: 9 + SECONDS.length + 3, call: 5, denial: 1 };

/** All series of the service; the names of its own begin with `gateway_`. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly models = new Set<string>();
  private readonly admits = createSeriesRoom();
  private namespaceOf: MetricsSources['namespaceOf'] = () => null;
  private readonly runs = this.counter('runs_total', 'Agent runs that ended, by outcome', ['agent', 'status']);
  private readonly refusedRuns = this.counter('runs_refused_total', 'Agent runs that were refused', ['reason']);
  private readonly runSeconds = this.histogram('run_duration_seconds', 'Time from acceptance to answer', ['agent']);
  private readonly llmRequests = this.counter('llm_requests_total', 'Requests to model providers', [
    'provider',
    'model',
    'outcome',
  ]);
  private readonly llmSeconds = this.histogram(
    'llm_request_duration_seconds',
    'Time of a request to a model provider',
    ['provider', 'model'],
  );
  private readonly tokens = this.counter('tokens_total', 'Tokens, as providers report them', [
    'provider',
    'model',
    'direction',
  ]);
  private readonly rests = this.counter('model_cooldowns_total', 'Times that a model was put to rest', [
    'provider',
    'model',
  ]);
  private readonly toolCalls = this.counter('tool_calls_total', 'Tool calls that were dispatched', [
    'server',
    'tool',
    'outcome',
  ]);
  private readonly toolSeconds = this.histogram('tool_call_duration_seconds', 'Time of a tool call', ['server']);
  private readonly denials = this.counter('tool_denials_total', 'Tool calls that were not allowed', [
    'server',
    'tool',
    'agent',
  ]);
  private readonly authFailures = this.counter('auth_failures_total', 'Requests refused for their token', ['reason']);
  private readonly changedTools = this.counter(
    'tool_definition_changes_total',
    'Tool sets that differ from the pinned one',
    ['server'],
  );

  /** Adds the series that are read at each scrape. */
  readFrom(sources: MetricsSources): void {
    this.namespaceOf = sources.namespaceOf;
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 100 });
    this.gauge('active_runs', 'Runs that hold a slot', () => sources.activeRuns());
    this.gauge('queued_runs', 'Runs that wait for a slot', () => sources.queuedRuns());
    this.gauge('waiting_approvals', 'Tool approvals that wait for a decision', () => sources.waitingApprovals());
    this.gauge('agents', 'Agents that are loaded', () => sources.agents().length);
    this.agentSeries(sources);
    this.gauge('rpc_connections', 'Open WebSocket connections', () => sources.connections());
    this.serverSeries(sources.servers);
    this.podSeries(sources.pods);
  }

  contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  runFinished(run: { agent: string; status: string; seconds: number }): void {
    const named = { names: [run.agent], lines: LINES.run };
    const agent = this.admits(named, this.namespaceOf(run.agent)) ? run.agent : OTHER;
    this.runs.inc({ agent, status: run.status });
    this.runSeconds.observe({ agent }, run.seconds);
  }

  /** `reason` is the type of the error that the caller got. */
  runRefused(reason: string): void {
    this.refusedRuns.inc({ reason });
  }

  llmRequest(request: {
    provider: string;
    model: string;
    outcome: string;
    seconds: number;
    usage: { input: number | null; output: number | null; cachedInput: number | null } | null;
  }): void {
    const { provider, outcome, usage } = request;
    const model = this.modelLabel(request);
    this.llmRequests.inc({ provider, model, outcome });
    this.llmSeconds.observe({ provider, model }, request.seconds);
    this.tokens.inc({ provider, model, direction: 'input' }, usage?.input ?? 0);
    this.tokens.inc({ provider, model, direction: 'output' }, usage?.output ?? 0);
    if (usage?.cachedInput) this.tokens.inc({ provider, model, direction: 'cached_input' }, usage.cachedInput);
  }

  modelRests(rested: { provider: string; model: string }): void {
    this.rests.inc({ provider: rested.provider, model: this.modelLabel(rested) });
  }

  toolCall(call: { server: string; tool: string; agent: string; outcome: string; seconds: number }): void {
    const { server, tool, agent, outcome, seconds } = call;
    const namespace = this.namespaceOf(agent);
    if (outcome === 'denied') {
      const isKnown = this.admits({ names: [server, tool, agent], lines: LINES.denial }, namespace);
      return this.denials.inc(isKnown ? { server, tool, agent } : { server, tool: OTHER, agent: OTHER });
    }
    const isKnown = this.admits({ names: [server, tool], lines: LINES.call }, namespace);
    this.toolCalls.inc({ server, tool: isKnown ? tool : OTHER, outcome });
    this.toolSeconds.observe({ server }, seconds);
  }

  authFailure(reason: string): void {
    this.authFailures.inc({ reason });
  }

  toolsChanged(server: string): void {
    this.changedTools.inc({ server });
  }

  /** Callers can invent names: after as many of all providers the rest is `other`. */
  private modelLabel({ provider, model }: { provider: string; model: string }): string {
    const key = `${provider}/${model}`;
    if (this.models.size < MAX_MODELS) this.models.add(key);
    return this.models.has(key) ? model : OTHER;
  }

  private serverSeries(servers: MetricsSources['servers']): void {
    const registers = [this.registry];
    new Gauge({
      name: 'gateway_tool_server_running',
      help: '1 while the tool server runs',
      labelNames: ['server'],
      registers,
      collect() {
        for (const { name, running } of servers()) this.set({ server: name }, running ? 1 : 0);
      },
    });
    new Counter({
      name: 'gateway_tool_server_restarts_total',
      help: 'Restarts of a tool server',
      labelNames: ['server'],
      registers,
      collect() {
        this.reset();
        for (const { name, restart_count } of servers()) this.inc({ server: name }, restart_count);
      },
    });
  }

  /** A series for every agent that is loaded, also at 0: an autoscaler reads them. */
  private agentSeries({ agents, runsByAgent }: Pick<MetricsSources, 'agents' | 'runsByAgent'>): void {
    const helps = {
      active: 'Runs of an agent that hold a slot',
      queued: 'Runs of an agent that wait for a slot or a pod',
    };
    for (const state of ['active', 'queued'] as const)
      new Gauge({
        name: `gateway_agent_runs_${state}`,
        help: helps[state],
        labelNames: ['agent'],
        registers: [this.registry],
        collect() {
          this.reset();
          const counts = runsByAgent();
          for (const agent of agents()) this.set({ agent }, counts.get(agent)?.[state] ?? 0);
        },
      });
  }

  private podSeries(pods: MetricsSources['pods']): void {
    new Gauge({
      name: 'gateway_agent_pods_connected',
      help: 'Pods of an agent that the gateway is connected to',
      labelNames: ['agent'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { agent, connected } of pods()) this.set({ agent }, connected);
      },
    });
  }

  private counter(name: string, help: string, labelNames: string[]): Counter {
    return new Counter({ name: `gateway_${name}`, help, labelNames, registers: [this.registry] });
  }

  private histogram(name: string, help: string, labelNames: string[]): Histogram {
    return new Histogram({ name: `gateway_${name}`, help, labelNames, buckets: SECONDS, registers: [this.registry] });
  }

  private gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name: `gateway_${name}`,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }
}
