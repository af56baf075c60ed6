import type { AgentLimits, AgentRunSpent } from '@signalbox/crds';
import type { Generated } from '../models/generate.ts';
import { CALLS_AT_ONCE, MAX_CALLS_PER_TURN } from '../runs/run-agent.ts';
import type { RunOutcome } from '../runs/run-outcome.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { UsedTokens } from '../runs/used-tokens.ts';

/** What a run in a pod uses, as the gateway counts it. A runner stays within the limits by itself; what else answers in its place does not. */
export class CountedUse {
  readonly maxToolCalls: number;
  private readonly used = new UsedTokens();
  private readonly limits: AgentLimits;
  private readonly maxIterations: number;
  private iterations = 0;
  private toolCalls = 0;
  private openCalls = 0;
  private isAsking = false;
  private answered: Extract<Generated, { ok: true }> | null = null;

  /** `maxIterations`: the operator's limit. */
  constructor(limits: AgentLimits, maxIterations: number) {
    this.limits = limits;
    this.maxIterations = Math.min(limits.max_iterations ?? maxIterations, maxIterations);
    this.maxToolCalls = Math.min(limits.max_tool_calls ?? Infinity, this.maxIterations * MAX_CALLS_PER_TURN);
  }

  async generate(ask: () => Promise<Generated>): Promise<Generated> {
    const message = this.refusal();
    if (message) return { ok: false, failure: { message, retryable: false, status: null, retryAfterMs: null } };
    this.iterations += 1;
    this.isAsking = true;
    try {
      const generated = await ask();
      for (const { route, usage } of generated.lost ?? []) this.used.add(route, usage);
      if (generated.ok) {
        this.used.add(generated.route, generated.reply.usage);
        this.answered = generated;
      }
      return generated;
    } finally {
      this.isAsking = false;
    }
  }

  async callTool(call: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
    if (this.toolCalls >= this.maxToolCalls)
      return { kind: 'error', text: 'the limit of tool calls in a run is reached' };
    if (this.openCalls >= CALLS_AT_ONCE) return { kind: 'error', text: `at most ${CALLS_AT_ONCE} tool calls at once` };
    this.toolCalls += 1;
    this.openCalls += 1;
    return call().finally(() => (this.openCalls -= 1));
  }

  /** What the pod says, with the counts of the gateway. Calls to servers in the pod are known to the pod alone. */
  putInto(outcome: RunOutcome): RunOutcome {
    if (!outcome.ok) return { ...outcome, partial: { ...outcome.partial, ...this.counts(outcome.partial) } };
    const { result } = outcome;
    const answered_by = this.answered?.reply.modelId ?? null;
    return { ok: true, result: { ...result, ...this.counts(result), answered_by } };
  }

  private counts({ tool_calls }: Pick<AgentRunSpent, 'tool_calls'>) {
    const { model = null, provider = null } = this.answered?.route ?? {};
    return {
      usage_by_model: undefined,
      ...this.used.said(this.answered?.route ?? null),
      iterations: this.iterations,
      tool_calls: Math.max(tool_calls, this.toolCalls),
      model,
      provider,
    };
  }

  private refusal(): string | null {
    const { input_tokens: input, output_tokens: output } = this.used.total();
    if (this.isAsking) return 'the run asks a model already';
    if (this.iterations >= this.maxIterations) return 'the run has had all its turns (limits.max_iterations)';
    if (input + output >= (this.limits.max_total_tokens ?? Infinity))
      return "the run has used its tokens (the agent's limits.max_total_tokens)";
    return null;
  }
}
