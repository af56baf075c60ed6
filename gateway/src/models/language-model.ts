import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { BrokenAnswer, requireWhole } from './failure.ts';
import type { ChatModel, ModelCall, ModelCallOptions, ModelReply } from './model.ts';
import { namedIn, readStream } from './read-stream.ts';
import { usageOf } from './usage.ts';

/** The part of an AI SDK model object that is used. */
type AnyModel = Pick<LanguageModelV4, 'modelId' | 'doGenerate' | 'doStream'>;

export interface Dialect {
  /** Whether a JSON mode may be combined with tools and with objects that have more keys than the schema names. */
  jsonMode: boolean;
  /** Whether a model's name does not tell what it can do, so that asking it to think must be said twice. */
  namelessModels?: boolean;
  /** Whether the provider keeps what it is asked and what it answers, unless it is told not to. */
  keepsAnswers?: boolean;
  /** Where the provider's own JSON names the model that answered, for an SDK that does not read it. */
  modelField?: string;
  /** Whether the trace context is sent on: to servers of one's own, not to strangers. */
  carriesTrace?: boolean;
}

/** Any AI SDK model object as a `ChatModel`. One request each, no retry: the caller decides about those. */
export function chatModelOf(model: AnyModel, dialect: Dialect): ChatModel {
  return {
    async generate(call, options) {
      const request = requestOf(call, options, dialect);
      if (options.onText) {
        const { stream } = await model.doStream(request);
        return readStream(stream, { modelId: model.modelId, modelField: dialect.modelField, onText: options.onText });
      }
      const result = await model.doGenerate(request);
      if (result.content.length === 0 && result.finishReason.unified === 'other') {
        throw new BrokenAnswer('the provider answered with nothing that can be read', true);
      }
      requireWhole(result.finishReason.unified);
      return {
        content: result.content,
        finish: result.finishReason.unified,
        usage: usageOf(result.usage),
        modelId: result.response?.modelId ?? namedIn(result.response?.body, dialect.modelField) ?? model.modelId,
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
    ...thinkingOf(call, dialect),
    ...(dialect.modelField === undefined ? {} : { includeRawChunks: true }),
    ...(dialect.carriesTrace && options.traceContext ? { headers: options.traceContext } : {}),
    ...(call.answerSchema && dialect.jsonMode ? { responseFormat: { type: 'json' } } : {}),
  };
}

function thinkingOf({ thinking }: ModelCall, { namelessModels, keepsAnswers }: Dialect) {
  const force = namelessModels === true && thinking !== undefined && thinking !== 'none';
  const openai = {
    // A run needs nothing of it: its thoughts come encrypted with the answer and go back with the next question.
    ...(keepsAnswers ? { store: false } : {}),
    // Nobody reads a summary of the thoughts, and OpenAI refuses one to organizations that it has not verified.
    ...(thinking === undefined ? {} : { reasoningSummary: null }),
    ...(force ? { forceReasoning: true } : {}),
  };
  return {
    ...(thinking === undefined ? {} : { reasoning: thinking }),
    ...(Object.keys(openai).length > 0 ? { providerOptions: { openai } } : {}),
  };
}
