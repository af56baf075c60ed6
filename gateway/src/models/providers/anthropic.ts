import { createAnthropic } from '@ai-sdk/anthropic';
import { boundEvents } from '../bound-events.ts';
import { boundUsage } from '../bound-usage.ts';
import { chatModelOf } from '../language-model.ts';
import type { ModelProvider } from '../model.ts';
import type { ProviderSettings } from './settings.ts';

/** Anthropic's Messages API. */
export function openAnthropic(settings: ProviderSettings): ModelProvider {
  const provider = createAnthropic({
    name: settings.name,
    baseURL: settings.baseUrl ?? 'https://api.anthropic.com/v1',
    apiKey: settings.apiKey,
    headers: settings.headers,
    fetch: boundEvents(settings.fetch, boundUsage),
  });
  return { model: (id) => chatModelOf(provider.languageModel(id), { jsonMode: false }) };
}
