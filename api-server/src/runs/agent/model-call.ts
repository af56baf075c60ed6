import type {
  AgentBackend,
  AgentCall,
  AgentFailure,
  AgentReply,
  AgentSpent,
  ModelUse,
  TokenUse,
} from '../state/executor.ts';
import type { Span } from '../state/span.ts';

/** Asks an agent within a span of its own, whose context goes with the question (Orchestration 6); `iteration` of a loop. */
export async function askAgent(
  backend: AgentBackend,
  parent: Span,
  call: Omit<AgentCall, 'trace'>,
  iteration?: number,
): Promise<AgentReply | AgentFailure> {
  const span = parent.child(`gen_ai.${backend.name}`, {
    'service.span.kind': 'model_call',
    'service.agent': call.agent,
    'gen_ai.system': backend.name,
    'gen_ai.request.model': call.model,
    ...(iteration !== undefined && { 'service.step.iteration': iteration }),
  });
  const started = performance.now();
  const reply = await backend.run({ ...call, ...(span.context && { trace: span.context }) });
  span.end(answerAttributes(call, reply, performance.now() - started), reply.ok ? null : reply.type);
  return reply;
}

/** Of a failed call too: whom it asked, how long it took and what it used. */
function answerAttributes({ model }: Pick<AgentCall, 'model'>, reply: AgentReply | AgentFailure, elapsedMs: number) {
  const used = reply.ok ? reply : reply.spent;
  const attributes = {
    'gen_ai.request.model': model,
    'service.gateway.duration_ms': Math.round(elapsedMs),
  };
  if (!used) return attributes;
  return {
    'gen_ai.request.model': model ?? used.model,
    'gen_ai.response.model': reply.ok ? reply.model : null,
    'service.model': used.model,
    'service.provider': used.provider,
    'service.agent_version': used.agentVersion,
    'service.gateway.duration_ms': used.durationMs ?? attributes['service.gateway.duration_ms'],
    ...usageAttributes(used.usage),
  };
}

const usageAttributes = (usage: TokenUse | null) =>
  usage && {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
  };

/** What each model used of an answered or failed call. */
export const usesOf = ({ usage, usageByModel, model, provider }: AgentSpent): readonly ModelUse[] =>
  usageByModel ?? (usage ? [{ ...usage, model, provider }] : []);
