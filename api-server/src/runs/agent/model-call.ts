import type { AgentBackend, AgentCall, AgentFailure, AgentReply } from '../state/executor.ts';
import type { Span } from '../state/span.ts';

/** Asks an agent within a span of its own, whose context goes with the question (Orchestration 6). */
export async function askAgent(
  backend: AgentBackend,
  parent: Span,
  call: Omit<AgentCall, 'trace'>,
): Promise<AgentReply | AgentFailure> {
  const span = parent.child(`gen_ai.${backend.name}`, {
    'service.span.kind': 'model_call',
    'service.agent': call.agent,
    'gen_ai.system': backend.name,
    'gen_ai.request.model': call.model,
  });
  const reply = await backend.run({ ...call, ...(span.context && { trace: span.context }) });
  const used = reply.ok ? reply : reply.spent;
  span.end(
    {
      'gen_ai.response.model': used?.model,
      'service.model': used?.model,
      'service.provider': used?.provider,
      'service.agent_version': used?.agentVersion,
      'service.gateway.duration_ms': reply.ok ? reply.durationMs : undefined,
    },
    reply.ok ? null : reply.type,
  );
  return reply;
}
