import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { openRoom } from './answer-room.ts';
import { requireBounded } from './bound-reply.ts';
import { BrokenAnswer, requireNamedCalls, requireWhole, UnwritableRequest } from './failure.ts';
import type { ChatModel, ModelCall, ModelCallOptions, ModelReply } from './model.ts';
import { namedIn, readStream, type StreamTarget } from './read-stream.ts';
import { usageOf } from './usage.ts';

/** The part of an AI SDK model object that is used. */
type AnyModel = Pick<LanguageModelV4, 'modelId' | 'doGenerate' | 'doStream'>;

export interface Dialect {
  /** Whether a JSON mode may be combined with tools and with objects that have more keys than the schema names. */
  jsonMode: boolean;
  /** Whether the SDK cannot know the model by its name, so that reasoning must be forced. */
  namelessModels?: boolean;
  /** Whether the provider stores requests and answers unless `store: false` is sent. */
  keepsAnswers?: boolean;
  /** The key of the provider's JSON that names the model that answered, for an SDK that does not read it. */
  modelField?: string;
  /** Whether the trace context is sent: to self-hosted servers, not to public APIs. */
  carriesTrace?: boolean;
}

/** Any AI SDK model object as a `ChatModel`. One request each; the caller decides about retries. */
export function chatModelOf(model: AnyModel, dialect: Dialect): ChatModel {
  return {
    async generate(call, options) {
      const request = requestOf(call, options, dialect);
      const { onText, signal } = options;
      const room = openRoom(signal, onText !== undefined);
      const keep = (piece: string) => room.keep(piece);
      const asked = onText ? streamed(model, request, { ...dialect, onText, keep }) : whole(model, request, dialect);
      const reply = await asked
        .catch((error: unknown) => {
          throw room.failure ?? (signal.aborted || room.isSent ? error : new UnwritableRequest(error));
        })
        .finally(() => room.end());
      requireWhole(reply);
      requireNamedCalls(reply);
      requireBounded(reply);
      return reply;
    },
  };
}

async function streamed(
  model: AnyModel,
  request: LanguageModelV4CallOptions,
  { modelField, ...tell }: Pick<Dialect, 'modelField'> & Pick<StreamTarget, 'onText' | 'keep'>,
): Promise<ModelReply> {
  const { stream } = await model.doStream(request);
  return readStream(stream, { modelId: model.modelId, modelField, ...tell });
}

async function whole(
  model: AnyModel,
  request: LanguageModelV4CallOptions,
  { modelField }: Pick<Dialect, 'modelField'>,
): Promise<ModelReply> {
  const { content, finishReason, usage, response } = await model.doGenerate(request);
  if (content.length === 0 && finishReason.unified === 'other')
    throw new BrokenAnswer('the provider sent an answer without content', true, usageOf(usage));
  return {
    content,
    finish: finishReason.unified,
    usage: usageOf(usage),
    modelId: response?.modelId ?? namedIn(response?.body, modelField) ?? model.modelId,
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
    // A run does not need the stored copy: reasoning comes encrypted with the answer and is sent back with the next request.
    ...(keepsAnswers ? { store: false } : {}),
    // The summary of the reasoning is not used, and OpenAI refuses it to unverified organizations.
    ...(thinking === undefined ? {} : { reasoningSummary: null }),
    ...(force ? { forceReasoning: true } : {}),
  };
  return {
    ...(thinking === undefined ? {} : { reasoning: thinking }),
    ...(Object.keys(openai).length > 0 ? { providerOptions: { openai } } : {}),
  };
}
