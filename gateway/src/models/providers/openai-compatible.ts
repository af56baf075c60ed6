import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { chatModelOf } from '../language-model.ts';
import type { ModelProvider } from '../model.ts';
import type { ProviderSettings } from './index.ts';

/** Any server that speaks Chat Completions; `base_url` ends before `/chat/completions`. */
export function openOpenAiCompatible(settings: ProviderSettings, carriesTrace = true): ModelProvider {
  const provider = createOpenAICompatible({
    name: settings.name,
    baseURL: settings.baseUrl ?? '',
    ...(settings.apiKey ? { apiKey: settings.apiKey } : {}),
    headers: settings.headers,
    fetch: settings.fetch,
    includeUsage: true,
  });
  return { model: (id) => chatModelOf(provider.chatModel(id), { jsonMode: false, carriesTrace }) };
}
