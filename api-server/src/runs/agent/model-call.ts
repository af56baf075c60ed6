import type { AgentBackend, AgentCall, AgentReply, Failure } from '../state/executor.ts';
import type { Span } from '../state/span.ts';

/** Asks an agent within a span of its own, whose context goes with the question (Orchestration 6). */
export async function askAgent(
  backend: AgentBackend,
  parent: Span,
  call: Omit<AgentCall, 'trace'>,
): Promise<AgentReply | Failure> {
  const span = parent.child(`gen_ai.${backend.name}`, {
    'service.span.kind': 'model_call',
    'service.agent': call.agent,
    'gen_ai.system': backend.name,
    'gen_ai.request.model': call.model,
  });
  const reply = await backend.run({ ...call, ...(span.context && { trace: span.context }) });
  if (!reply.ok) span.end({}, reply.type);
  else {
    span.end({
      'gen_ai.response.model': reply.model,
      'service.model': reply.model,
      'service.provider': reply.provider,
      'service.agent_version': reply.agentVersion,
      'service.gateway.duration_ms': reply.durationMs,
    });
  }
  return reply;
}
