import type { ModelProvider } from '../model.ts';
import type { ProviderSettings } from './settings.ts';
import { openOpenAiCompatible } from './openai-compatible.ts';

/** OpenRouter; a model id keeps its own slash: `openrouter/meta-llama/llama-4`. */
export function openOpenRouter(settings: ProviderSettings): ModelProvider {
  return openOpenAiCompatible({ ...settings, baseUrl: settings.baseUrl ?? 'https://openrouter.ai/api/v1' }, false);
}
