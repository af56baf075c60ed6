import {
  convertOpenAICompatibleChatUsage,
  convertToOpenAICompatibleChatMessages,
  mapOpenAICompatibleFinishReason,
  prepareTools,
} from '@ai-sdk/openai-compatible/internal';
import type { LanguageModelV4CallOptions, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { z } from 'zod';

/** Who is asked: the configured provider, and its own name of the model. */
interface Target {
  provider: string;
  model: string;
}

/**
 * The body of a Chat Completions request, from the SDK's own parts. The SDK itself first looks for a dozen options that no
 * agent can set, which takes longer than all the rest; a test holds the two together.
 */
export function requestBody({ provider, model }: Target, options: LanguageModelV4CallOptions): object {
  const { prompt, maxOutputTokens, temperature, reasoning, tools, toolChoice } = options;
  const offered = prepareTools({ tools, toolChoice });
  return {
    model,
    max_tokens: maxOutputTokens,
    temperature,
    reasoning_effort: reasoning,
    messages: convertToOpenAICompatibleChatMessages(prompt, { provider, providerOptionsKey: provider }),
    tools: offered.tools,
    tool_choice: offered.toolChoice,
  };
}

const Nothing = z.null().optional();
const Tokens = z.number().nullish();

/** An answer that is one text: no tools, no thoughts, no refusal. */
const TextAnswer = z.object({
  model: z.string(),
  choices: z.tuple([
    z.object({
      message: z.object({
        role: z.literal('assistant').nullish(),
        content: z.string().min(1),
        refusal: Nothing,
        reasoning_content: Nothing,
        reasoning: Nothing,
        tool_calls: Nothing,
      }),
      finish_reason: z.string(),
    }),
  ]),
  usage: z.object({
    prompt_tokens: Tokens,
    completion_tokens: Tokens,
    prompt_tokens_details: z.object({ cached_tokens: Tokens }).nullish(),
    completion_tokens_details: z.object({ reasoning_tokens: Tokens }).nullish(),
  }),
});

/** What a body says that is one text, the most frequent one by far; null for any other, which the SDK reads. */
export function textAnswer(body: unknown): LanguageModelV4GenerateResult | null {
  const parsed = TextAnswer.safeParse(body);
  if (!parsed.success) return null;
  const { model, choices, usage } = parsed.data;
  const [{ message, finish_reason: raw }] = choices;
  return {
    content: [{ type: 'text', text: message.content }],
    finishReason: { unified: mapOpenAICompatibleFinishReason(raw), raw },
    usage: convertOpenAICompatibleChatUsage(usage),
    response: { modelId: model },
    warnings: [],
  };
}
