import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { MAX_TOKENS } from '@signalbox/crds';
import type { ModelUsage } from './model.ts';

/** Maps the AI SDK's token counts, which are the provider's as it wrote them. */
export function usageOf(usage: LanguageModelV4Usage): ModelUsage {
  return {
    input: countOf(usage.inputTokens.total),
    output: countOf(usage.outputTokens.total),
    cachedInput: countOf(usage.inputTokens.cacheRead),
  };
}

/** Null for what no call can have used: it would lower or break every sum that it is added to. */
function countOf(said: number | undefined): number | null {
  return said !== undefined && Number.isInteger(said) && said >= 0 && said <= MAX_TOKENS ? said : null;
}
