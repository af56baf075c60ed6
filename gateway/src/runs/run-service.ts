import { type AgentAttachParams, type AgentRunParams, serverOf } from '@signalbox/crds';
import type { Compute } from '@signalbox/crds/process/compute';
import type { AgentRecord } from '../agents/agent-record.ts';
import { unknownAgent } from '../agents/unknown-name.ts';
import type { ServedTool } from '../tools/tool-servers.ts';
import { AnswerContracts, type ContractResult, mergeSchemas, type AnswerContract } from './answer-contract.ts';
import { askedFor, type EndedRun, endedRun } from './ended-run.ts';
import { FinishedRuns } from './finished-runs.ts';
import { IdempotencyKeys, parametersHash } from './idempotency.ts';
import { finishedRun, keyOf, Run, type RunWatcher } from './run.ts';
import type { RunJob } from './run-agent.ts';
import { attributed, failure, RunAborted, type RunFailure, type RunOutcome, spanAttributes } from './run-outcome.ts';
import { type RunLimits, RunQueue, type Ticket } from './run-queue.ts';
import { RunSlot } from './run-slot.ts';
import { guarded } from '../observability/guarded.ts';
import { carryOn, type RunSpan, type StartSpan, traceContextOf } from '../observability/span.ts';
import { shareOf } from './share.ts';
import { atCapacity, refusedSchema, type Submitted, watched } from './submitted.ts';
import type { ModelRoute } from '../models/route.ts';
import { type AgentRuns, countByAgent } from './runs-by-agent.ts';
import { offerTools, type ToolOffer } from './tool-offer.ts';
import { NotReady, WaitingRoom } from './waiting-room.ts';

export interface RunServiceDeps {
  agent: (name: string) => AgentRecord | undefined;
  agentNames: () => readonly string[];
  /** Why a model string is not valid; null where it is. */
  modelProblem: (model: string) => string | null;
  route: (model: string) => ModelRoute | null;
  tools: (agent: AgentRecord) => ServedTool[];
  /** Names of servers that still do not run after the wait. */
  whenRunning: (servers: readonly string[], timeoutMs: number, signal: AbortSignal) => Promise<string[]>;
  /** Does the work of a run that has its slot; rejects when the run's signal aborts. */
  perform: (job: RunJob, run: Run) => Promise<RunOutcome>;
  /** Null where an agent can start at once; else begins to wait, and resolves when it can, or with false after a timeout. */
  whenReady?: (agent: AgentRecord, signal: AbortSignal) => (() => Promise<boolean>) | null;
  compute: Pick<Compute, 'checkSchema' | 'validate'>;
  limits: RunLimits;
  /** Whether a run with an idempotency key continues without watchers. */
  keyedRunsOutliveWatchers: boolean;
  newId: (params: AgentRunParams) => string;
  now: () => number;
  onFinished: (run: EndedRun) => void;
  /** Without it no span is recorded; a context of the caller is passed on. */
  startSpan?: StartSpan | undefined;
  onBug: (error: unknown, runId: string) => void;
}

const SERVER_WAIT_MS = 10_000;
const ORPHAN_GRACE_MS = 30_000;
const DEFAULT_TRACE_CHARS = 4000;
/** Of one tool result, so that its event fits a frame. */
const MAX_TRACE_CHARS = 100_000;

/** Accepts runs, queues them at the cap, performs them and keeps them for a while. */
export class RunService {
  private readonly deps: RunServiceDeps;
  private readonly queue: RunQueue;
  private readonly waiting: WaitingRoom;
  private readonly keys: IdempotencyKeys<Run>;
  private readonly contracts: AnswerContracts;
  private readonly live = new Map<string, Run>();
  private readonly finished: FinishedRuns;
  private draining = false;

  constructor(deps: RunServiceDeps) {
    this.deps = deps;
    this.contracts = new AnswerContracts(deps.compute);
    this.queue = new RunQueue(deps.limits);
    this.waiting = new WaitingRoom(deps.limits.maxQueuedRuns);
    this.keys = new IdempotencyKeys(deps.now);
    this.finished = new FinishedRuns({ now: deps.now, onForget: (run) => this.keys.forget(run.key, run) });
  }

  active(): number {
    return this.queue.active();
  }

  queued(): number {
    return this.queue.queued() + this.waiting.size();
  }

  readonly byAgent = (): ReadonlyMap<string, AgentRuns> => countByAgent(this.live.values());

  waitingApprovals(): number {
    return this.queue.waitingApprovals();
  }

  /** The run that has the idempotency key of a call; null where there is none. */
  join(params: AgentRunParams, watcher: RunWatcher): Submitted | null {
    const key = keyOf(watcher, params.idempotency_key);
    if (key === undefined || !this.keys.get(key)) return null;
    const known = this.keys.find(key, parametersHash(params));
    if (known.kind === 'other')
      return { ok: false, type: 'duplicate', message: 'the idempotency key was used with other parameters' };
    return known.kind === 'same' ? watched(known.run, watcher, true) : null;
  }

  /** Starts a run, or returns the one that has its idempotency key. It may wait meanwhile, with its parameters. */
  submit(params: AgentRunParams, watcher: RunWatcher): Submitted | Promise<Submitted> {
    const agent = this.deps.agent(params.agent);
    const schema = agent ? mergeSchemas(agent.config.output_schema, params.output_schema) : null;
    const contract = this.contracts.get(schema, shareOf(params, watcher).key);
    const start = (known: ContractResult) => this.start(params, watcher, agent, known);
    return contract instanceof Promise ? contract.then(start) : start(contract);
  }

  /** Waits for nothing, so that two calls with one key start one run and a cancellation right behind a call finds it. */
  private start(
    params: AgentRunParams,
    watcher: RunWatcher,
    agent: AgentRecord | undefined,
    contract: ContractResult,
  ): Submitted {
    const known = this.join(params, watcher);
    if (known) return known;
    const prepared = this.prepare(params, agent, contract);
    if (!prepared.ok) return prepared;
    const run = new Run(this.deps.newId(params), params, watcher);
    const ticket = this.enter(run, prepared.agent);
    if (!ticket) return atCapacity('all run slots are in use and the queue is full');
    if (run.key !== undefined) this.keys.remember(run.key, parametersHash(params), run);
    this.live.set(run.id, run);
    void this.execute(run, prepared, ticket);
    return watched(run, watcher, false);
  }

  /** A run that this connection may follow and cancel. */
  find({ run_id: id, idempotency_key: key }: AgentAttachParams, watcher: RunWatcher): Run | undefined {
    const run = id === undefined ? this.keys.get(keyOf(watcher, key)) : (this.live.get(id) ?? this.finished.get(id));
    return run?.isOpenTo(watcher) ? run : undefined;
  }

  /** A run whose agent has no ready pod waits outside the queue and takes no slot. */
  private enter(run: Run, agent: AgentRecord): Ticket | null {
    const onPosition = (position: number) => run.emit({ event: 'queued', position });
    const ready = this.deps.whenReady?.(agent, run.signal()) ?? null;
    if (!ready) return this.queue.enter(run.share, run.signal(), onPosition);
    return this.waiting.enter(run.share, ready, () => {
      const ticket = this.queue.enter(run.share, run.signal(), onPosition);
      if (ticket && ticket.position > 0) onPosition(ticket.position);
      return ticket;
    });
  }

  /** False when the run is over already. */
  cancel(run: Run, message: string): boolean {
    return this.stop(run, new RunAborted('cancelled', message));
  }

  private stop(run: Run, reason: RunAborted): boolean {
    if (run.done) return false;
    run.stop(reason);
    return true;
  }

  /** A watcher's connection closed. A run without watchers and without a key is cancelled after a while. */
  unwatch(watcher: RunWatcher): void {
    for (const run of this.live.values()) {
      if (!run.watchers.delete(watcher) || run.watchers.size > 0) continue;
      if (run.params.idempotency_key !== undefined && this.deps.keyedRunsOutliveWatchers) continue;
      setTimeout(() => {
        if (run.watchers.size === 0) this.cancel(run, 'the caller disconnected');
      }, ORPHAN_GRACE_MS).unref();
    }
  }

  /** Refuses new runs; resolves when the others have ended, or were cancelled after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    this.draining = true;
    const all = [...this.live.values()];
    const timer = setTimeout(() => {
      for (const run of all) this.stop(run, new RunAborted('cancelled', 'the gateway is stopping', true));
    }, graceMs);
    await Promise.all(all.map((run) => run.finished));
    clearTimeout(timer);
  }

  private prepare(
    params: AgentRunParams,
    agent: AgentRecord | undefined,
    contract: ContractResult,
  ): Prepared | Extract<Submitted, { ok: false }> {
    if (this.draining) return atCapacity('the gateway is stopping');
    if (!agent) return { ok: false, type: 'not_found', message: unknownAgent(params.agent, this.deps.agentNames()) };
    const problem = params.model === undefined ? null : this.deps.modelProblem(params.model);
    if (problem !== null) return { ok: false, type: 'invalid_params', message: `model: ${problem}` };
    return contract.ok ? { ok: true, agent, contract: contract.contract } : refusedSchema(contract);
  }

  private async execute(run: Run, prepared: Prepared, ticket: Ticket): Promise<void> {
    const started = performance.now();
    const timer = this.deadline(run, prepared.agent);
    run.slot = new RunSlot(this.queue, ticket, { share: run.share, signal: run.signal() });
    const failed = (error: unknown) => this.failed(run, error);
    let outcome: RunOutcome = await this.runInSlot(run, prepared, ticket.position).catch(failed);
    clearTimeout(timer);
    run.slot.end();
    const seconds = (performance.now() - started) / 1000;
    const route = this.deps.route(run.params.model ?? prepared.agent.config.model);
    outcome = attributed(outcome, { agent: prepared.agent, route, seconds });
    const [finished, ended] = [finishedRun(run.id, outcome), endedRun(run, outcome, prepared.agent, seconds)];
    run.finish(finished);
    const onBug = (error: unknown) => this.deps.onBug(error, run.id);
    // After the answer is sent; until then the run is found among the live ones.
    setImmediate(() => {
      this.live.delete(run.id);
      this.finished.add(run, finished);
      guarded(() => this.deps.onFinished(ended), onBug);
    });
  }

  private async runInSlot(run: Run, prepared: Prepared, position: number): Promise<RunOutcome> {
    run.emit({ event: 'accepted' });
    if (position > 0) run.emit({ event: 'queued', position });
    await run.slot?.first();
    run.emit({ event: 'started' });
    const signal = run.signal();
    const { config } = prepared.agent;
    const servers = [...new Set(config.tools.map((pattern) => serverOf(pattern)))];
    const down = servers.length === 0 ? [] : await this.deps.whenRunning(servers, SERVER_WAIT_MS, signal);
    signal.throwIfAborted();
    if (down.length > 0) return failure('tool_unavailable', `tool servers are not running: ${down.join(', ')}`, true);
    const offer = await offerTools(config, config.tools.length === 0 ? [] : this.deps.tools(prepared.agent));
    signal.throwIfAborted();
    const job = this.jobOf(run, prepared, offer);
    try {
      const outcome = await this.deps.perform(job, run);
      job.span.end(spanAttributes(outcome), outcome.ok ? null : outcome.type);
      return outcome;
    } catch (error) {
      job.span.end({}, signal.aborted ? 'cancelled' : 'internal');
      throw error;
    }
  }

  private jobOf(run: Run, { agent, contract }: Prepared, offer: ToolOffer): RunJob {
    const { params } = run;
    const { config } = agent;
    return {
      runId: run.id,
      share: run.share.key,
      agent,
      contract,
      input: params.input,
      models: [params.model ?? config.model, ...config.model_fallbacks],
      offer,
      streamText: params.trace?.stream === true,
      traceResultMaxChars: Math.min(params.trace?.tool_result_max_chars ?? DEFAULT_TRACE_CHARS, MAX_TRACE_CHARS),
      signal: run.signal(),
      emit: (event) => run.emit(event),
      span: this.startSpan(run, agent),
    };
  }

  private startSpan(run: Run, agent: AgentRecord): RunSpan {
    const { _meta, metadata, session_key } = run.params;
    const { caller_run, pipeline, step } = askedFor(metadata);
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent.name,
      'gen_ai.agent.version': agent.version,
      'gen_ai.conversation.id': session_key,
      'signalbox.run_id': caller_run,
      'signalbox.pipeline': pipeline,
      'signalbox.step': step,
    };
    return (this.deps.startSpan ?? carryOn)(`invoke_agent ${agent.name}`, attributes, traceContextOf(_meta));
  }

  /** The caller's timeout includes the time in the queue, and so does the agent's own. */
  private deadline(run: Run, agent: AgentRecord): NodeJS.Timeout | undefined {
    const own = (agent.config.limits.timeout_seconds ?? Number.POSITIVE_INFINITY) * 1000;
    const ms = Math.min(run.params.timeout_ms ?? Number.POSITIVE_INFINITY, own);
    if (!Number.isFinite(ms)) return undefined;
    return setTimeout(
      () => run.stop(new RunAborted('timeout', `the run did not end within ${ms / 1000} s`)),
      Math.min(ms, 2 ** 31 - 1),
    );
  }

  private failed(run: Run, error: unknown): RunFailure {
    const signal = run.signal();
    if (signal.aborted && signal.reason instanceof RunAborted) {
      return failure(signal.reason.type, signal.reason.message, signal.reason.retryable);
    }
    if (error instanceof NotReady) return failure('tool_unavailable', error.message, true);
    this.deps.onBug(error, run.id);
    return failure('internal', 'the run failed inside the gateway', true);
  }
}

interface Prepared {
  ok: true;
  agent: AgentRecord;
  contract: AnswerContract | null;
}
