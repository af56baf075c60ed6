import type { AgentRunSpent, SchemaError, SchemaResult } from '@signalbox/crds';
import { extractJson, startOf } from '@signalbox/crds';
import type { AgentRecord } from '../agents/agent-record.ts';
import type { Generated, GenerateOptions, GenerateRequest } from '../models/generate.ts';
import type { ModelContent, ModelPrompt } from '../models/model.ts';
import { turnOf } from '../models/own-turns.ts';
import type { AnswerContract } from './answer-contract.ts';
import { heldChars } from './held-chars.ts';
import { modelCallOf } from './model-call.ts';
import type { EmitRunEvent } from './run-event.ts';
import type { RunSpan } from '../observability/span.ts';
import { RunAborted, type RunFailureType, type RunOutcome } from './run-outcome.ts';
import { callTool, type DoorDeps, type RequestedCall } from './tool-door.ts';
import { timestamp } from './timestamp.ts';
import type { ToolOffer } from './tool-offer.ts';
import { Trace } from './trace.ts';
import { UsedTokens, usageOf } from './used-tokens.ts';

/** What the loop needs of its host: the gateway's process or an agent's pod. */
export interface RunAgentDeps {
  generate: (request: GenerateRequest, options: GenerateOptions) => Promise<Generated>;
  door: DoorDeps;
  /** The operator's limit; an agent's own limit may only be lower. */
  maxIterations: number;
  /** Told how much more the run holds, in characters of two bytes. */
  onTalk?: (chars: number) => void;
}

/** One run, with everything that is decided before it starts. */
export interface RunJob {
  runId: string;
  /** With whose runs its checks take turns. */
  share: string;
  agent: AgentRecord;
  input: string;
  /** Model strings in the order in which they are tried; the one that answers becomes the first. */
  models: string[];
  contract: AnswerContract | null;
  offer: ToolOffer;
  streamText: boolean;
  traceResultMaxChars: number;
  /** Aborts at the run's deadline and when it is cancelled. */
  signal: AbortSignal;
  emit: EmitRunEvent;
  span: RunSpan;
}

type Answered = Extract<Generated, { ok: true }>;
type ToolCallContent = Extract<ModelContent, { type: 'tool-call' }>;
export const MAX_CALLS_PER_TURN = 32;
export const CALLS_AT_ONCE = 8;
/** Of what events and people get; only the provider gets all of it back: a proxy may write a thought's signature into an id. */
const MAX_CALL_ID_CHARS = 200;
/** What a run has said and heard, as JSON; no model reads as much. */
const MAX_TALK_CHARS = 16 * 1024 * 1024;
const CUT_OFF = 'and it was cut off at its limit of tokens (max_tokens)';

/** Model and tools in turns until the model answers, a limit is met or `signal` aborts. Rejects only for a bug. */
export function runAgent(job: RunJob, deps: RunAgentDeps): Promise<RunOutcome> {
  return new AgentRun(job, deps).run();
}

/** The state of one run. */
class AgentRun {
  private readonly job: RunJob;
  private readonly deps: RunAgentDeps;
  private readonly prompt: ModelPrompt = [];
  private readonly trace: Trace;
  private readonly used = new UsedTokens();
  private readonly started = performance.now();
  private talkChars = 0;
  private iterations = 0;
  private toolCalls = 0;
  private repaired = false;
  private answeredBy: { model: string; provider: string; modelId: string } | null = null;

  constructor(job: RunJob, deps: RunAgentDeps) {
    this.job = job;
    this.deps = deps;
    this.trace = new Trace(job.traceResultMaxChars);
    this.add({ role: 'system', content: job.agent.soul + (job.contract?.instruction ?? '') });
    this.add({ role: 'user', content: [{ type: 'text', text: job.input }] });
  }

  async run(): Promise<RunOutcome> {
    const { byName, warnings } = this.job.offer;
    if (warnings.length > 0 && byName.size === 0) return this.fail('tool_unavailable', warnings.join('; '), true);
    try {
      return await this.takeTurns();
    } catch (error) {
      const { signal } = this.job;
      if (!signal.aborted || !(signal.reason instanceof RunAborted)) throw error;
      return this.fail(signal.reason.type, signal.reason.message, signal.reason.retryable);
    }
  }

  private async takeTurns(): Promise<RunOutcome> {
    const { limits } = this.job.agent.config;
    const maxIterations = Math.min(limits.max_iterations ?? Number.POSITIVE_INFINITY, this.deps.maxIterations);
    const whose = limits.max_iterations === maxIterations ? "the agent's" : "the gateway's";
    for (;;) {
      if (this.iterations >= maxIterations) {
        const message = `no answer after ${maxIterations} turns of the model (${whose} limits.max_iterations)`;
        return this.fail('max_iterations', message, false);
      }
      if (this.talkChars > MAX_TALK_CHARS)
        return this.fail('max_iterations', `the run holds more than ${MAX_TALK_CHARS} characters`, false);
      const generated = await this.askModel();
      if (!generated.ok) return this.fail('provider_error', generated.failure.message, generated.failure.retryable);
      const outcome = await this.handle(generated);
      if (outcome) return outcome;
      const { input_tokens: input, output_tokens: output } = this.used.total();
      const { max_total_tokens: most = Infinity } = limits;
      const spent = `the run used its ${most} tokens (the agent's limits.max_total_tokens)`;
      if (input + output >= most) return this.fail('max_iterations', spent, false);
    }
  }

  private async askModel(): Promise<Generated> {
    const { job } = this;
    this.iterations += 1;
    const startedAt = Date.now();
    const started = performance.now();
    const generated = await this.deps.generate(
      { models: job.models, call: modelCallOf(job, { prompt: this.prompt, tools: job.offer.forModel }) },
      {
        signal: job.signal,
        span: job.span,
        onText: job.streamText ? (text) => job.emit({ event: 'text', text }) : undefined,
        onRetry: (retry) => job.emit({ event: 'llm_retry', ...retry }),
        onFallback: (fallback) => job.emit({ event: 'model_fallback', ...fallback }),
      },
    );
    const timing = { startedAt, durationMs: performance.now() - started };
    for (const { route, usage } of generated.lost ?? []) this.used.add(route, usage);
    if (generated.ok) this.recordCall(generated, timing);
    else this.recordFailure(generated.failure.message, timing);
    return generated;
  }

  private recordFailure(reason: string, { startedAt, durationMs }: Timing): void {
    this.trace.add({
      type: 'llm_call',
      started_at: timestamp(startedAt),
      duration_ms: durationMs,
      is_error: true,
      reason,
    });
  }

  private recordCall({ reply, route }: Answered, timing: Timing): void {
    const usage = usageOf(reply.usage);
    this.used.add(route, reply.usage);
    this.answeredBy = { model: route.model, provider: route.provider, modelId: reply.modelId };
    const { model, provider } = route;
    this.job.emit({
      event: 'llm_call',
      iteration: this.iterations,
      model,
      provider,
      usage,
      duration_ms: timing.durationMs,
    });
    this.trace.add({
      type: 'llm_call',
      started_at: timestamp(timing.startedAt),
      duration_ms: timing.durationMs,
      model,
      provider,
      usage,
    });
  }

  /** The outcome when the reply ends the run, null when the model goes on. */
  private async handle(generated: Answered): Promise<RunOutcome | null> {
    const { reply } = generated;
    const calls = reply.content.filter(
      (part): part is ToolCallContent => part.type === 'tool-call' && part.providerExecuted !== true,
    );
    if (calls.length > 0) {
      this.remember(generated);
      await this.callTools(calls);
      return null;
    }
    return this.answer(generated);
  }

  /** Adds the reply to the prompt of the next turn. */
  private remember({ reply, route }: Answered): void {
    this.add(turnOf(route, reply.content));
  }

  private add(message: ModelPrompt[number]): void {
    const json = JSON.stringify(message);
    const chars = message.role === 'assistant' ? heldChars(json) : json.length;
    this.talkChars += chars;
    this.prompt.push(message);
    this.deps.onTalk?.(chars);
  }

  private async answer(generated: Answered): Promise<RunOutcome | null> {
    const { reply } = generated;
    const text = reply.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const { contract, runId, share } = this.job;
    if (!contract) return this.complete(text, reply.finish, null);
    const output = extractJson(text);
    const checked = isObject(output) ? await contract.validate(output, { run: runId, share }) : NO_OBJECT;
    if ('reason' in checked) {
      const message = `the answer cannot be checked against its schema: ${checked.msg}`;
      return checked.passing ? this.fail('internal', message, true) : this.fail('output_invalid', message, false);
    }
    const problem = checked.ok ? null : describe(checked.errors);
    const errors = problem && reply.finish === 'length' ? `${problem}, ${CUT_OFF}` : problem;
    if (errors === null) return this.complete(text, reply.finish, output as Record<string, unknown>);
    if (this.repaired) return this.fail('output_invalid', `the answer does not meet its schema: ${errors}`, false);
    this.repaired = true;
    this.remember(generated);
    const request = `That answer cannot be used: ${errors}. Answer again with the corrected JSON object and nothing else.`;
    this.add({ role: 'user', content: [{ type: 'text', text: request }] });
    return null;
  }

  private async callTools(calls: readonly ToolCallContent[]): Promise<void> {
    const answers: { call: ToolCallContent; answer: Awaited<ReturnType<typeof callTool>> }[] = [];
    for (let at = 0; at < calls.length; at += CALLS_AT_ONCE) {
      const batch = calls.slice(at, at + CALLS_AT_ONCE);
      answers.push(
        ...(await Promise.all(
          batch.map(async (call, index) => ({ call, answer: await this.callOne(call, at + index) })),
        )),
      );
    }
    this.add({
      role: 'tool',
      content: answers.map(({ call, answer }) => ({
        type: 'tool-result',
        toolCallId: call.toolCallId,
        toolName: call.toolName,
        output: { type: answer.isError ? 'error-text' : 'text', value: answer.text },
      })),
    });
  }

  private async callOne(call: ToolCallContent, indexInTurn: number): Promise<{ text: string; isError: boolean }> {
    const max = this.job.agent.config.limits.max_tool_calls;
    if (max !== undefined && this.toolCalls >= max)
      return { text: `the limit of ${max} tool calls in a run is reached; answer with what you know`, isError: true };
    if (indexInTurn >= MAX_CALLS_PER_TURN)
      return { text: `at most ${MAX_CALLS_PER_TURN} tool calls in one turn`, isError: true };
    this.toolCalls += 1;
    const { runId, agent, offer, signal, emit, span } = this.job;
    const id = startOf(call.toolCallId, MAX_CALL_ID_CHARS);
    const requested: RequestedCall = { id, name: call.toolName, input: call.input };
    const context = { runId, agent: agent.name, offer, signal, emit, span, trace: this.trace };
    return callTool(requested, context, this.deps.door);
  }

  private complete(text: string, finish: string, output: Record<string, unknown> | null): RunOutcome {
    const answered_by = this.answeredBy?.modelId ?? null;
    const duration_ms = Math.round(performance.now() - this.started);
    const said = { status: 'completed' as const, text, output, stop_reason: finish, answered_by };
    return { ok: true, result: { run_id: this.job.runId, ...said, ...this.soFar(), duration_ms } };
  }

  private fail(type: RunFailureType, message: string, retryable: boolean): RunOutcome {
    return { ok: false, type, message, retryable, partial: this.soFar() };
  }

  private soFar(): AgentRunSpent {
    return {
      agent_version: this.job.agent.version,
      ...this.used.said(this.answeredBy),
      duration_ms: null,
      iterations: this.iterations,
      tool_calls: this.toolCalls,
      trace: this.trace.entries(),
      ...(this.trace.wasCut && { trace_cut: true }),
      warnings: this.job.offer.warnings,
      model: this.answeredBy?.model ?? null,
      provider: this.answeredBy?.provider ?? null,
    };
  }
}

interface Timing {
  startedAt: number;
  durationMs: number;
}

const NO_OBJECT: SchemaResult = { ok: false, errors: [{ loc: ['the answer'], msg: 'has no JSON object' }] };

const describe = (errors: readonly SchemaError[]): string =>
  errors.map(({ loc, msg }) => `${loc.join('.') || 'the object'} ${msg}`).join('; ');

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
