import { setTimeout as sleep } from 'node:timers/promises';
import {
  AgentEvent,
  MAX_FRAME_BYTES,
  MAX_FRAME_VALUES,
  rpcError,
  type RpcRequest,
  serverOf,
  valuesIn,
} from '@signalbox/crds';
import type { AgentRecord } from '../agents/agent-record.ts';
import type { ModelTool } from '../models/model.ts';
import { OTHER } from '../observability/metrics.ts';
import type { RpcReply } from '../rpc/one-frame.ts';
import { TOO_LARGE } from '../rpc/watcher.ts';
import { modelCallOf } from '../runs/model-call.ts';
import type { Run } from '../runs/run.ts';
import { heldChars } from '../runs/held-chars.ts';
import type { RunAgentDeps, RunJob } from '../runs/run-agent.ts';
import type { RunEvent } from '../runs/run-event.ts';
import { RunAborted, type RunOutcome } from '../runs/run-outcome.ts';
import { isListed, isNameOf } from '../runs/tool-offer.ts';
import { ApprovalAsk, ASKS, AuthorizeAsk, GenerateAsk, ToolCallAsk } from '../runner/protocol.ts';
import type { Generated, GenerateOptions } from '../models/generate.ts';
import { CountedUse } from './counted-use.ts';
import { HostedTools, type HostedToolsDeps } from './hosted-tools.ts';
import { KeptAnswers } from './kept-answers.ts';
import { podEvent } from './pod-event.ts';
import { questionKey } from './questions.ts';

export interface AnswerPodsDeps extends Omit<HostedToolsDeps, 'maxToolCalls'> {
  generate: RunAgentDeps['generate'];
  /** The operator's limit; an agent's own limit may only be lower. */
  maxIterations: number;
  /** Whether a pod of the agent lists such a tool. */
  listsTool: (agent: string, server: string, tool: string) => boolean;
}

interface Hosting {
  job: RunJob;
  run: Run;
  /** Told how much more is held here for the run, or less, in characters of two bytes. */
  onTalk: (chars: number) => void;
}

/** A run that a pod works on, with the answers it got: a request that is repeated on a new connection gets the same answer. */
interface Hosted extends Hosting {
  /** What it asked for and has no answer to. */
  open: Set<Promise<unknown>>;
  use: CountedUse;
  answers: KeptAnswers;
  tools: HostedTools;
  /** When the gateway began with the run, in milliseconds. */
  since: number;
  /** Requests that could not be read. */
  invalid: number;
}

/** What waits for an answer keeps no request: none of these awaits one. */
type Method = (hosted: Hosted, params: unknown) => Promise<RpcReply> | RpcReply;
const MAX_INVALID = 10;
const OVER = 'the run is over';
/** Models, tools and questions end at once when they are aborted. */
const END_MS = 1000;

/** Answers requests of pods for models and for tools of the gateway: only for runs of that agent, and under the tool policy. */
export class AnswerPods {
  private readonly deps: AnswerPodsDeps;
  private readonly hosted = new Map<string, Hosted>();
  private readonly methods: ReadonlyMap<string, Method>;

  constructor(deps: AnswerPodsDeps) {
    this.deps = deps;
    this.methods = new Map<string, Method>([
      [ASKS.generate, once(GenerateAsk, (hosted, ask) => this.generate(hosted, ask))],
      [ASKS.authorize, once(AuthorizeAsk, ({ tools }, ask) => tools.authorize(ask))],
      [
        ASKS.call,
        once(ToolCallAsk, ({ use, run, tools }, ask) => use.callTool(() => run.working(() => tools.call(ask)))),
      ],
      ['tool.request_approval', (hosted, params) => this.requestApproval(hosted, params)],
      ['agent.event', (hosted, params) => this.relay(hosted, params)],
    ]);
  }

  /**
   * While `work` goes on, pods of the job's agent may ask about this run; what is open then is aborted, and recorded. What it used is
   * what was counted here.
   */
  async during({ job: asked, run, onTalk }: Hosting, work: () => Promise<RunOutcome>): Promise<RunOutcome> {
    const over = new AbortController();
    const job = { ...asked, signal: AbortSignal.any([asked.signal, over.signal]) };
    const open: Hosted['open'] = new Set();
    const use = new CountedUse(job.agent.config.limits, this.deps.maxIterations);
    const tools = new HostedTools(job, run, { ...this.deps, maxToolCalls: use.maxToolCalls });
    this.hosted.set(job.runId, {
      job,
      run,
      onTalk,
      open,
      use,
      answers: new KeptAnswers(onTalk),
      tools,
      since: performance.now(),
      invalid: 0,
    });
    const workAndEnd = async () => {
      try {
        return await work();
      } finally {
        over.abort(new RunAborted('cancelled', OVER));
        run.slot?.close();
        await allEnded(open);
      }
    };
    try {
      return tools.putInto(use.putInto(await workAndEnd()));
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

  private async generate({ job, run, use }: Hosted, { call: { prompt, tools } }: GenerateAsk): Promise<Generated> {
    const call = modelCallOf(job, { prompt, tools: this.toolsFor(job, tools) });
    const options: GenerateOptions = {
      signal: job.signal,
      span: job.span,
      onText: job.streamText ? (text) => job.emit({ event: 'text', text }) : undefined,
      onRetry: (retry) => job.emit({ event: 'llm_retry', ...retry }),
      onFallback: (fallback) => job.emit({ event: 'model_fallback', ...fallback }),
    };
    const ask = () => this.deps.generate({ models: job.models, call }, options);
    const generated = await use.generate(() => run.working(ask));
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

  /** An approver must see the whole call: one that is no frame of theirs is refused before it is looked at. */
  private requestApproval(hosted: Hosted, params: unknown): Promise<RpcReply> | RpcReply {
    const parsed = ApprovalAsk.safeParse(params);
    if (!parsed.success) return refuseInvalid(hosted, 'the approval request is not valid');
    const text = JSON.stringify(params);
    if (Buffer.byteLength(text) > MAX_FRAME_BYTES || valuesIn(text) > MAX_FRAME_VALUES) {
      hosted.tools.refuse(parsed.data, TOO_LARGE);
      return { ok: true, result: { approved: false, comment: TOO_LARGE } };
    }
    const key = questionKey(parsed.data, parsed.data.input);
    const { tools } = hosted;
    const asked = tools.questions.get(key) ?? holding(hosted, text, () => tools.askPeople(parsed.data, key));
    return asked.then(answered, whenOver(hosted));
  }

  /** The gateway itself tells of the calls that it knows. */
  private relay({ job, tools, since }: Hosted, params: unknown): RpcReply {
    const { data: said } = AgentEvent.safeParse(params);
    if (!said || !tools.isPodsOwn({ server: said['server'], type: said.event })) return { ok: true, result: null };
    const event = podEvent(said, job.traceResultMaxChars);
    this.count(job.agent, event, performance.now() - since);
    job.emit(event);
    return { ok: true, result: null };
  }

  /** Calls to servers in the pod do not pass the gateway; they are counted by their events. None is longer than its run, `mostMs`. */
  private count({ name: agent, config }: AgentRecord, event: RunEvent, mostMs: number): void {
    if (event.event !== 'tool_denied' && event.event !== 'tool_result') return;
    const { server } = event;
    if (!isListed(config.tools, { server, name: event.tool })) return;
    // A pod could invent names, and each would become a series.
    const tool = this.deps.listsTool(agent, server, event.tool) ? event.tool : OTHER;
    const call = { run_id: null, server, tool, agent };
    if (event.event === 'tool_denied') return this.deps.door.onCall({ ...call, outcome: 'denied', seconds: 0 });
    const outcome = event.is_error ? 'error' : 'ok';
    this.deps.door.onCall({ ...call, outcome, seconds: Math.min(event.duration_ms, mostMs) / 1000 });
  }
}

interface Asked {
  ask: number;
  input?: string;
}

/** Validates a request, and answers a repeated one with the first answer. */
function once<Params extends Asked>(
  schema: { safeParse: (value: unknown) => { success: true; data: Params } | { success: false } },
  handle: (hosted: Hosted, params: Params) => Promise<unknown>,
): Method {
  return (hosted, params) => {
    const parsed = schema.safeParse(params);
    if (!parsed.success) return refuseInvalid(hosted, 'the request is not valid');
    const { ask, input = '' } = parsed.data;
    const known = hosted.answers.get(ask);
    if (known) return known;
    const work = () => handle(hosted, parsed.data);
    const answer = holding(hosted, JSON.stringify(params), work, input).then(answered, whenOver(hosted));
    return hosted.answers.add(ask, answer);
  };
}

/** A request counts as held until its work is done, with the values and names of `input`, a text of JSON in it. */
function holding<Result>(
  { onTalk, open }: Hosted,
  json: string,
  work: () => Promise<Result>,
  input = '',
): Promise<Result> {
  const chars = heldChars(json, input);
  onTalk(chars);
  const done = work().finally(() => {
    open.delete(done);
    onTalk(-chars);
  });
  open.add(done);
  return done;
}

async function allEnded(open: ReadonlySet<Promise<unknown>>): Promise<void> {
  if (open.size > 0) await Promise.race([Promise.allSettled(open), sleep(END_MS, null, { ref: false })]);
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

function refuse(type: Parameters<typeof rpcError>[0], message: string): RpcReply {
  return { ok: false, error: rpcError(type, message) };
}
