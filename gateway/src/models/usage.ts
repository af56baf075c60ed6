import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import type { ModelUsage } from './model.ts';

/** The AI SDK's account of tokens as ours. */
export function usageOf(usage: LanguageModelV4Usage): ModelUsage {
  return {
    input: usage.inputTokens.total ?? null,
    output: usage.outputTokens.total ?? null,
    cachedInput: usage.inputTokens.cacheRead ?? null,
  };
}
