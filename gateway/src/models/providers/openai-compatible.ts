import { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import { boundCalls } from '../bound-calls.ts';
import { boundEvents } from '../bound-events.ts';
import { chatModelOf } from '../language-model.ts';
import type { ModelProvider } from '../model.ts';
import type { ProviderSettings } from './settings.ts';

/** Any server that speaks Chat Completions; `base_url` ends before `/chat/completions`. */
export function openOpenAiCompatible(settings: ProviderSettings, carriesTrace = true): ModelProvider {
  const { name, apiKey, headers } = settings;
  const fetch = boundEvents(settings.fetch, boundCalls);
  const url = `${(settings.baseUrl ?? '').replace(/\/$/, '')}/chat/completions`;
  const sent = {
    'user-agent': 'signalbox-gateway',
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    ...Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value])),
  };
  return {
    model: (id) => {
      const model = new OpenAICompatibleChatLanguageModel(id, {
        provider: `${name}.chat`,
        url: () => url,
        headers: () => sent,
        fetch,
        includeUsage: true,
      });
      return chatModelOf(model, { jsonMode: false, carriesTrace });
    },
  };
}
