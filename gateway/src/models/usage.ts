import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import type { ModelUsage } from './model.ts';

/** Maps the AI SDK's token counts. */
export function usageOf(usage: LanguageModelV4Usage): ModelUsage {
  return {
    input: usage.inputTokens.total ?? null,
    output: usage.outputTokens.total ?? null,
    cachedInput: usage.inputTokens.cacheRead ?? null,
  };
}
