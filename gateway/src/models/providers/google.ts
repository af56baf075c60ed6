import { createGoogle } from '@ai-sdk/google';
import { boundContinuationEvents, boundContinuations } from '../bound-continuations.ts';
import { boundEvents } from '../bound-events.ts';
import { boundPaths } from '../bound-paths.ts';
import { chatModelOf } from '../language-model.ts';
import type { ModelProvider } from '../model.ts';
import type { ProviderSettings } from './settings.ts';

/** Google's Gemini API. Its JSON mode does not go together with tools, so the prompt alone asks for JSON. */
export function openGoogle(settings: ProviderSettings): ModelProvider {
  const provider = createGoogle({
    name: settings.name,
    baseURL: settings.baseUrl ?? 'https://generativelanguage.googleapis.com/v1beta',
    apiKey: settings.apiKey,
    headers: settings.headers,
    fetch: boundContinuations(boundEvents(settings.fetch, boundPaths, boundContinuationEvents)),
  });
  return { model: (id) => chatModelOf(provider.languageModel(id), { jsonMode: false, modelField: 'modelVersion' }) };
}
