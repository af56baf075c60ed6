import {
  AgentEvent,
  MAX_FRAME_BYTES,
  rpcError,
  type RpcRequest,
  serverOf,
  ToolApprovalParams,
  type ToolApprovalResult,
  valuesIn,
} from '@signalbox/crds';
import type { AgentRecord } from '../agents/agent-record.ts';
import type { ModelTool } from '../models/model.ts';
import type { RpcReply } from '../rpc/one-frame.ts';
import { TOO_LARGE } from '../rpc/watcher.ts';
import { modelCallOf } from '../runs/model-call.ts';
import type { Run } from '../runs/run.ts';
import { CHARS_OF_VALUE, type RunAgentDeps, type RunJob } from '../runs/run-agent.ts';
import type { RunEvent } from '../runs/run-event.ts';
import { RunAborted, type RunOutcome, wasCancelled } from '../runs/run-outcome.ts';
import { cutText, type DoorDeps } from '../runs/tool-door.ts';
import { parseToolInput } from '../runs/tool-input.ts';
import { isListed, isNameOf } from '../runs/tool-offer.ts';
import { ASKS, AuthorizeAsk, GenerateAsk, ToolCallAsk } from '../runner/protocol.ts';
import type { Generated } from '../models/generate.ts';
import type { PolicyDecision } from '../policy/policy.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { CountedUse } from './counted-use.ts';
import { KeptAnswers } from './kept-answers.ts';
import { podEvent } from './pod-event.ts';
import { type CallName, questionKey, Questions } from './questions.ts';

export interface AnswerPodsDeps {
  generate: RunAgentDeps['generate'];
  door: Omit<DoorDeps, 'requestApproval'>;
  /** Whether a server runs in the gateway; the others run in the pod. */
  livesHere: (server: string) => boolean;
  /** The operator's limit; an agent's own limit may only be lower. */
  maxIterations: number;
}

interface Hosting {
  job: RunJob;
  run: Run;
  /** Told how much more is held here for the run, or less, in characters of two bytes. */
  onTalk: (chars: number) => void;
}

/** A run that a pod works on, with the answers it got: a request that is repeated on a new connection gets the same answer. */
interface Hosted extends Hosting {
  use: CountedUse;
  answers: KeptAnswers;
  questions: Questions;
  /** Requests that could not be read. */
  invalid: number;
}

/** What waits for an answer keeps no request: none of these awaits one. */
type Method = (hosted: Hosted, params: unknown) => Promise<RpcReply> | RpcReply;
const MAX_INVALID = 10;
const OVER = 'the run is over';
const NO_OBJECT = 'the arguments must be a JSON object';
/** The events that the gateway itself emits for a run in a pod. */
const OWN_EVENTS: ReadonlySet<string> = new Set([
  'accepted',
  'queued',
  'started',
  'text',
  'llm_retry',
  'model_fallback',
]);

/** Answers requests of pods for models and for tools of the gateway: only for runs of that agent, and under the tool policy. */
export class AnswerPods {
  private readonly deps: AnswerPodsDeps;
  private readonly hosted = new Map<string, Hosted>();
  private readonly methods: ReadonlyMap<string, Method>;

  constructor(deps: AnswerPodsDeps) {
    this.deps = deps;
    this.methods = new Map<string, Method>([
      [ASKS.generate, once(GenerateAsk, (hosted, ask) => this.generate(hosted, ask))],
      [ASKS.authorize, once(AuthorizeAsk, (hosted, ask) => Promise.resolve(this.authorize(hosted, ask)))],
      [ASKS.call, once(ToolCallAsk, (hosted, ask) => this.callTool(hosted, ask))],
      ['tool.request_approval', (hosted, params) => this.requestApproval(hosted, params)],
      ['agent.event', (hosted, params) => this.relay(hosted, params)],
    ]);
  }

  /** While `work` goes on, pods of the job's agent may ask about this run. What it used is what was counted here. */
  async during(hosting: Hosting, work: () => Promise<RunOutcome>): Promise<RunOutcome> {
    const { job, onTalk } = hosting;
    const use = new CountedUse(job.agent.config.limits, this.deps.maxIterations);
    this.hosted.set(job.runId, {
      ...hosting,
      use,
      answers: new KeptAnswers(onTalk),
      questions: new Questions(),
      invalid: 0,
    });
    try {
      return use.putInto(await work());
    } finally {
      this.hosted.delete(job.runId);
    }
  }

  /** Whether a run has made a request. One without requests had no effects, so it may start again elsewhere. */
  wasAsked(runId: string): boolean {
    return this.hosted.get(runId)?.answers.isEmpty === false;
  }

  /** One request of a pod of `agent`; runs of other agents are unknown to it. */
  async answer(agent: string, { method, params }: RpcRequest): Promise<RpcReply> {
    const handle = this.methods.get(method);
    if (!handle) return refuse('method_not_found', `there is no method "${method}" for a runner`);
    const hosted = this.hosted.get(runOf(params));
    if (!hosted || hosted.job.agent.name !== agent) return refuse('not_found', 'there is no such run');
    if (hosted.job.signal.aborted) return refuse('cancelled', OVER);
    return handle(hosted, params);
  }

  private async generate({ job, use }: Hosted, { call: { prompt, tools } }: GenerateAsk): Promise<Generated> {
    const call = modelCallOf(job, { prompt, tools: this.toolsFor(job, tools) });
    const generated = await use.generate(() =>
      this.deps.generate(
        { models: job.models, call },
        {
          signal: job.signal,
          span: job.span,
          onText: job.streamText ? (text) => job.emit({ event: 'text', text }) : undefined,
          onRetry: (retry) => job.emit({ event: 'llm_retry', ...retry }),
          onFallback: (fallback) => job.emit({ event: 'model_fallback', ...fallback }),
        },
      ),
    );
    if (!generated.ok) return generated;
    // Files that a model made are bytes, which JSON cannot carry and no run reads.
    const content = generated.reply.content.filter(
      ({ type }) => type === 'text' || type === 'reasoning' || type === 'tool-call',
    );
    return { ...generated, reply: { ...generated.reply, content } };
  }

  /** The tools of servers here, and of the pod's those that belong to its own servers. */
  private toolsFor({ agent, offer }: RunJob, said: readonly ModelTool[]): ModelTool[] {
    const servers = agent.config.tools.map((pattern) => serverOf(pattern)).filter((name) => !this.deps.livesHere(name));
    const isOfPod = ({ name }: ModelTool) => servers.some((server) => isNameOf(server, name));
    return [...offer.forModel, ...said.filter((tool) => !offer.byName.has(tool.name) && isOfPod(tool))];
  }

  private authorize(hosted: Hosted, ask: AskedCall): PolicyDecision | Promise<PolicyDecision> {
    const input = parseToolInput(ask.input);
    return input ? this.decide(hosted, ask, input) : { action: 'deny', rule: null, reason: NO_OBJECT };
  }

  /** Decides on the arguments as the gateway would send them, not on the pod's text of them. */
  private decide({ job }: Hosted, ask: CallName, input: object): PolicyDecision | Promise<PolicyDecision> {
    const { server, tool, call_id: callId } = ask;
    if (!isListed(job.agent.config.tools, { server, name: tool }))
      return { action: 'deny', rule: null, reason: 'the agent does not list this tool' };
    return this.deps.door.decide({ server, tool, agent: job.agent.name, input: JSON.stringify(input), callId });
  }

  /** The pod has asked for a decision before; the policy decides again about the call that is made. */
  private callTool(hosted: Hosted, ask: ToolCallAsk): Promise<ToolOutcome> {
    return hosted.use.callTool(() => this.callOffered(hosted, ask));
  }

  private async callOffered(hosted: Hosted, ask: ToolCallAsk): Promise<ToolOutcome> {
    const { server, tool } = ask;
    const { job } = hosted;
    const offered = [...job.offer.byName.values()].find((one) => one.server === server && one.tool === tool);
    if (!offered) return { kind: 'error', text: `there is no tool ${server}/${tool} for this agent` };
    const input = parseToolInput(ask.input);
    if (!input) return { kind: 'error', text: NO_OBJECT };
    const decision = await this.decide(hosted, ask, input);
    const needsApproval = decision.action === 'require_approval' || offered.needsApproval;
    if (decision.action === 'deny' || (needsApproval && !hosted.questions.use(questionKey(ask, input)))) {
      this.deps.door.onCall({ server, tool, agent: job.agent.name, outcome: 'denied', seconds: 0 });
      return { kind: 'error', text: `this call is not allowed: ${decision.reason ?? 'it was not approved'}` };
    }
    const started = performance.now();
    const { signal } = job;
    const outcome = await this.deps.door.call(server, tool, input, {
      signal,
      timeoutMs: this.deps.door.toolTimeoutMs,
      callId: ask.call_id,
      agent: job.agent.name,
      span: job.span,
    });
    const seconds = (performance.now() - started) / 1000;
    const counted = wasCancelled(signal) ? 'cancelled' : outcome.kind;
    this.deps.door.onCall({ server, tool, agent: job.agent.name, outcome: counted, seconds });
    return { ...outcome, text: cutText(outcome.text, this.deps.door.resultMaxChars) };
  }

  /** An approver must see the whole call: one that is no frame of theirs is refused before it is looked at. */
  private requestApproval(hosted: Hosted, params: unknown): Promise<RpcReply> | RpcReply {
    const parsed = ToolApprovalParams.safeParse(params);
    if (!parsed.success) return refuseInvalid(hosted, 'the approval request is not valid');
    const text = JSON.stringify(params);
    if (Buffer.byteLength(text) > MAX_FRAME_BYTES) return { ok: true, result: { approved: false, comment: TOO_LARGE } };
    const key = questionKey(parsed.data, parsed.data.input);
    const asked = hosted.questions.get(key) ?? holding(hosted, text, () => this.askPeople(hosted, parsed.data, key));
    return asked.then(answered, whenOver(hosted));
  }

  /** Asks for what the policy or the agent wants allowed by a person, in the words of the policy. */
  private async askPeople(hosted: Hosted, asked: ToolApprovalParams, key: string): Promise<ToolApprovalResult> {
    const { call_id, server, tool, input } = asked;
    const { run, job, questions } = hosted;
    const decision = await this.authorize(hosted, { call_id, server, tool, input: JSON.stringify(input ?? null) });
    const { action, reason } = decision;
    const isAsked =
      action === 'require_approval' || isListed(job.agent.config.require_approval, { server, name: tool });
    if (action === 'deny' || !isAsked) return { approved: false, comment: reason ?? 'nobody may approve this call' };
    return questions.ask(key, () => run.requestApproval({ call_id, server, tool, input, reason }, job.signal));
  }

  private relay({ job }: Hosted, params: unknown): RpcReply {
    const parsed = AgentEvent.safeParse(params);
    if (!parsed.success || OWN_EVENTS.has(parsed.data.event)) return { ok: true, result: null };
    const event = podEvent(parsed.data, job.traceResultMaxChars);
    this.count(job.agent, event);
    job.emit(event);
    return { ok: true, result: null };
  }

  /** Calls to servers in the pod do not pass the gateway; they are counted by their events. */
  private count({ name: agent, config }: AgentRecord, event: RunEvent): void {
    if (event.event !== 'tool_denied' && event.event !== 'tool_result') return;
    const { server, tool } = event;
    // A pod could invent names, and each would become a series.
    if (!isListed(config.tools, { server, name: tool })) return;
    if (event.event === 'tool_denied')
      return this.deps.door.onCall({ server, tool, agent, outcome: 'denied', seconds: 0 });
    if (this.deps.livesHere(server)) return;
    const outcome = event.is_error ? 'error' : 'ok';
    this.deps.door.onCall({ server, tool, agent, outcome, seconds: event.duration_ms / 1000 });
  }
}

interface Asked {
  ask: number;
}

/** Validates a request, and answers a repeated one with the first answer. */
function once<Params extends Asked>(
  schema: { safeParse: (value: unknown) => { success: true; data: Params } | { success: false } },
  handle: (hosted: Hosted, params: Params) => Promise<unknown>,
): Method {
  return (hosted, params) => {
    const parsed = schema.safeParse(params);
    if (!parsed.success) return refuseInvalid(hosted, 'the request is not valid');
    const { ask } = parsed.data;
    const known = hosted.answers.get(ask);
    if (known) return known;
    const answer = holding(hosted, JSON.stringify(params), () => handle(hosted, parsed.data)).then(
      answered,
      whenOver(hosted),
    );
    return hosted.answers.add(ask, answer);
  };
}

/** A request counts as held until its work is done. */
function holding<Result>({ onTalk }: Hosted, json: string, work: () => Promise<Result>): Promise<Result> {
  const chars = json.length + valuesIn(json) * CHARS_OF_VALUE;
  onTalk(chars);
  return work().finally(() => onTalk(-chars));
}

const answered = (result: unknown): RpcReply => ({ ok: true, result });

const whenOver =
  ({ job }: Hosted) =>
  (error: unknown): RpcReply => {
    if (job.signal.aborted) return refuse('cancelled', OVER);
    throw error;
  };

function runOf(params: unknown): string {
  const fields: { run?: unknown; run_id?: unknown } = typeof params === 'object' && params !== null ? params : {};
  const id = fields.run ?? fields.run_id;
  return typeof id === 'string' ? id : '';
}

/** A runner sends none; reading them takes time. */
function refuseInvalid(hosted: Hosted, message: string): RpcReply {
  hosted.invalid += 1;
  const tooMany = `its pod sent ${MAX_INVALID} requests that are not valid`;
  if (hosted.invalid >= MAX_INVALID) hosted.run.stop(new RunAborted('max_iterations', tooMany));
  return refuse('invalid_params', message);
}

type AskedCall = CallName & Pick<ToolCallAsk, 'input'>;

function refuse(type: Parameters<typeof rpcError>[0], message: string): RpcReply {
  return { ok: false, error: rpcError(type, message) };
}
