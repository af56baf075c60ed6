import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { BrokenAnswer } from './failure.ts';
import type { ChatModel, ModelCall, ModelCallOptions, ModelReply } from './model.ts';
import { readStream } from './read-stream.ts';
import { usageOf } from './usage.ts';

export interface Dialect {
  /** Whether a JSON mode may be combined with tools and with objects that have more keys than the schema names. */
  jsonMode: boolean;
  /** Whether the trace context is sent on: to servers of one's own, not to strangers. */
  carriesTrace?: boolean;
}

/** Any AI SDK model object as a `ChatModel`. One request each, no retry: the caller decides about those. */
export function chatModelOf(model: LanguageModelV4, dialect: Dialect): ChatModel {
  return {
    async generate(call, options) {
      const request = requestOf(call, options, dialect);
      if (options.onText) {
        const { stream } = await model.doStream(request);
        return readStream(stream, { modelId: model.modelId, onText: options.onText });
      }
      const result = await model.doGenerate(request);
      if (result.content.length === 0 && result.finishReason.unified === 'other') {
        throw new BrokenAnswer('the provider answered with nothing that can be read', true);
      }
      return {
        content: result.content,
        finish: result.finishReason.unified,
        usage: usageOf(result.usage),
        modelId: result.response?.modelId ?? model.modelId,
      } satisfies ModelReply;
    },
  };
}

function requestOf(call: ModelCall, options: ModelCallOptions, dialect: Dialect): LanguageModelV4CallOptions {
  return {
    prompt: call.prompt,
    abortSignal: options.signal,
    ...(call.tools.length > 0 ? { tools: call.tools, toolChoice: { type: 'auto' } } : {}),
    ...(call.maxOutputTokens === undefined ? {} : { maxOutputTokens: call.maxOutputTokens }),
    ...(call.temperature === undefined ? {} : { temperature: call.temperature }),
    ...(call.thinking === undefined ? {} : { reasoning: call.thinking }),
    ...(dialect.carriesTrace && options.traceparent ? { headers: { traceparent: options.traceparent } } : {}),
    ...(call.answerSchema && dialect.jsonMode ? { responseFormat: { type: 'json' } } : {}),
  };
}
