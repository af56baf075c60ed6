import {
  type AgentRunSpent,
  serverOf,
  type ToolApprovalParams,
  type ToolApprovalResult,
  TraceEntry,
} from '@signalbox/crds';
import { z } from 'zod';
import type { PolicyDecision } from '../policy/policy.ts';
import type { ToolCallAsk } from '../runner/protocol.ts';
import { type Run, shortId } from '../runs/run.ts';
import type { RunJob } from '../runs/run-agent.ts';
import { RunAborted, type RunOutcome } from '../runs/run-outcome.ts';
import {
  askHuman,
  type CallFields,
  dispatch,
  type DoorDeps,
  inventedName,
  NO_OBJECT,
  NO_TOOL,
  recordDenial,
  refusalOf,
} from '../runs/tool-door.ts';
import { parseToolInput } from '../models/tool-input.ts';
import { isListed } from '../runs/tool-offer.ts';
import { NO_SERVER, Trace } from '../runs/trace.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { type CallName, questionKey, Questions } from './questions.ts';

export interface HostedToolsDeps {
  door: Omit<DoorDeps, 'requestApproval'>;
  /** Whether a server runs in the gateway; the others run in the pod. */
  livesHere: (server: string) => boolean;
  /** As many refusals are told; further ones are counted. */
  maxToolCalls: number;
}

type AskedCall = CallName & Pick<ToolCallAsk, 'input'>;
/** Without fields of the pod's own. */
const PodEntry = z.object(TraceEntry.shape);
/** Entries of the trace, and events, that are about a call of a tool. */
const OF_CALLS: ReadonlySet<string> = new Set([
  'tool_call',
  'tool_result',
  'tool_denied',
  'approval',
  'approval_requested',
  'approval_decided',
]);

/** The tools of one run in a pod. What the gateway itself does or refuses, it records itself. */
export class HostedTools {
  readonly questions = new Questions();
  private readonly job: RunJob;
  private readonly run: Run;
  private readonly deps: HostedToolsDeps;
  private readonly trace: Trace;
  private refusals = 0;
  private decisions = 0;

  constructor(job: RunJob, run: Run, deps: HostedToolsDeps) {
    this.job = job;
    this.run = run;
    this.deps = deps;
    this.trace = new Trace(job.traceResultMaxChars);
  }

  /** A runner asks for a decision once for each call, and once more where people must allow it. */
  async authorize(ask: AskedCall): Promise<PolicyDecision> {
    this.decisions += 1;
    if (this.decisions > 2 * this.deps.maxToolCalls) {
      const over = new RunAborted('max_iterations', 'its pod asked about more tool calls than a run may make');
      this.run.stop(over);
      throw over;
    }
    const decision = await this.decide(ask);
    if (decision.action === 'deny') this.refuse(ask, decision.reason);
    return decision;
  }

  /** The pod has asked for a decision before; the policy decides again about the call that is made. */
  async call(ask: AskedCall): Promise<ToolOutcome> {
    const { server, tool } = ask;
    const offered = this.offered(ask);
    const input = parseToolInput(ask.input);
    if (!offered || !input) {
      this.refuse(ask, offered ? NO_OBJECT : NO_TOOL);
      return { kind: 'error', text: offered ? NO_OBJECT : `there is no tool ${server}/${tool} for this agent` };
    }
    const decision = await this.decide(ask);
    const needsApproval = decision.action === 'require_approval' || offered.needsApproval;
    if (decision.action === 'deny' || (needsApproval && !this.questions.use(questionKey(ask, input)))) {
      const reason = decision.reason ?? 'it was not approved';
      this.refuse(ask, reason);
      return { kind: 'error', text: `this call is not allowed: ${reason}` };
    }
    return dispatch({ call_id: shortId(ask.call_id), server, tool, input }, this.context(), this.deps.door);
  }

  /** Asks for what the policy or the agent wants allowed by a person, in the words of the policy. */
  async askPeople(asked: ToolApprovalParams, key: string): Promise<ToolApprovalResult> {
    const { call_id, server, tool, input } = asked;
    const ask = { call_id, server, tool, input: JSON.stringify(input ?? null) };
    const { action, reason } = await this.authorize(ask);
    const isAsked =
      action === 'require_approval' || isListed(this.job.agent.config.require_approval, { server, name: tool });
    if (action === 'deny' || !isAsked) return { approved: false, comment: reason ?? 'nobody may approve this call' };
    const request = { call_id, server, tool, input, reason };
    return this.questions.ask(key, () =>
      this.deps.livesHere(server) ? this.askAndRecord(ask, request) : this.requestApproval(request, this.job.signal),
    );
  }

  /** Refuses a call of a server in the gateway, and says so as often as a run may call. */
  refuse(ask: CallName, reason: string | null): void {
    if (!this.deps.livesHere(ask.server)) return;
    const call_id = shortId(ask.call_id);
    const { server, tool } = ask;
    const fields: CallFields = this.offered(ask)
      ? { call_id, server, tool }
      : { call_id, server: NO_SERVER, tool: inventedName(`${server}/${tool}`) };
    this.refusals += 1;
    const { door, maxToolCalls } = this.deps;
    const isTold = this.refusals <= maxToolCalls;
    const context = isTold ? this.context() : { ...this.context(), emit: () => {} };
    recordDenial(fields, reason ?? 'denied by the tool policy', context, isTold ? door : { onCall: () => {} });
  }

  /** What the pod says, with the gateway's own record of the calls that it knows. */
  putInto(outcome: RunOutcome): RunOutcome {
    if (!outcome.ok) return { ...outcome, partial: { ...outcome.partial, ...this.record(outcome.partial) } };
    return { ok: true, result: { ...outcome.result, ...this.record(outcome.result) } };
  }

  private record(said: Pick<AgentRunSpent, 'trace' | 'trace_cut'>): Pick<AgentRunSpent, 'trace' | 'trace_cut'> {
    for (const one of said.trace) {
      const { data: entry } = PodEntry.safeParse(one);
      if (entry && this.isPodsOwn(entry)) this.trace.add(entry);
    }
    const trace = this.trace.entries().toSorted((a, b) => timeOf(a) - timeOf(b));
    return { trace, trace_cut: this.trace.wasCut || said.trace_cut };
  }

  /** A pod may say what it asked of a model, and of calls those of its own servers, and that there was no such tool. */
  isPodsOwn({ server, type }: { server?: unknown; type: string }): boolean {
    if (server === undefined) return type === 'llm_call';
    if (server === NO_SERVER) return type === 'tool_denied';
    const isNamed = this.job.agent.config.tools.some((pattern) => serverOf(pattern) === server);
    return typeof server === 'string' && isNamed && !this.deps.livesHere(server) && OF_CALLS.has(type);
  }

  private async askAndRecord(ask: AskedCall, request: Parameters<Run['requestApproval']>[0]) {
    const shown = { ...request, call_id: shortId(request.call_id) };
    const decision = await askHuman(shown, this.context(), { requestApproval: this.requestApproval });
    const refusal = refusalOf(decision);
    if (refusal !== null) this.refuse(ask, refusal);
    return decision;
  }

  private readonly requestApproval: DoorDeps['requestApproval'] = (request, signal) =>
    this.run.requestApproval(request, signal);

  /** Decides on the arguments as the gateway would send them, not on the pod's text of them. Rejects when the run ended meanwhile. */
  private async decide(ask: AskedCall): Promise<PolicyDecision> {
    const { server, tool, call_id: callId } = ask;
    const { share } = this.job;
    const { name: agent, config } = this.job.agent;
    const input = parseToolInput(ask.input);
    if (!input) return { action: 'deny', rule: null, reason: NO_OBJECT };
    if (!isListed(config.tools, { server, name: tool }))
      return { action: 'deny', rule: null, reason: 'the agent does not list this tool' };
    const decision = await this.deps.door.decide({ server, tool, agent, share, input: JSON.stringify(input), callId });
    this.job.signal.throwIfAborted();
    return decision;
  }

  private offered({ server, tool }: CallName) {
    return [...this.job.offer.byName.values()].find((one) => one.server === server && one.tool === tool);
  }

  private context() {
    const { runId, agent, signal, span, emit } = this.job;
    return { runId, agent: agent.name, signal, span, emit, trace: this.trace };
  }
}

function timeOf({ started_at: at }: TraceEntry): number {
  const time = Date.parse(at);
  return Number.isNaN(time) ? 0 : time;
}
