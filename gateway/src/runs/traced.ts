import type { DoorDeps } from './tool-door.ts';
import type { RunAgentDeps } from './run-agent.ts';

/** Model calls as spans with the attributes of OpenTelemetry's GenAI conventions, for loops in the gateway and in pods. */
export function tracedGenerate(generate: RunAgentDeps['generate']): RunAgentDeps['generate'] {
  return async (request, options) => {
    const [model = ''] = request.models;
    const span = options.span?.child(`chat ${model}`, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': model,
    });
    if (!span) return generate(request, options);
    try {
      const generated = await generate(request, { ...options, span });
      if (generated.ok) span.end(answerAttributes(generated));
      else span.end({}, generated.failure.status === null ? 'provider_error' : String(generated.failure.status));
      return generated;
    } catch (error) {
      span.end({}, 'cancelled');
      throw error;
    }
  };
}

function answerAttributes({ reply, route }: Extract<Awaited<ReturnType<RunAgentDeps['generate']>>, { ok: true }>) {
  return {
    'gen_ai.provider.name': route.provider,
    'gen_ai.response.model': reply.modelId,
    'gen_ai.response.finish_reasons': [reply.finish],
    'gen_ai.usage.input_tokens': reply.usage.input ?? undefined,
    'gen_ai.usage.output_tokens': reply.usage.output ?? undefined,
    'gen_ai.usage.cache_read.input_tokens': reply.usage.cachedInput ?? undefined,
  };
}

/** Tool calls likewise; arguments and results stay out of traces. */
export function tracedCall(call: DoorDeps['call']): DoorDeps['call'] {
  return async (server, tool, input, options) => {
    const span = options.span?.child(`execute_tool ${tool}`, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': options.callId,
      'signalbox.tool.server': server,
    });
    if (!span) return call(server, tool, input, options);
    const outcome = await call(server, tool, input, { ...options, span });
    span.end({}, outcome.kind === 'ok' ? null : outcome.kind);
    return outcome;
  };
}
