import { createOpenAI } from '@ai-sdk/openai';
import { boundCalls } from '../bound-calls.ts';
import { boundEvents } from '../bound-events.ts';
import { boundNotes } from '../bound-notes.ts';
import { chatModelOf } from '../language-model.ts';
import type { ModelProvider } from '../model.ts';
import type { ProviderSettings } from './settings.ts';

/** OpenAI's Responses API, or Chat Completions with `api: chat`. */
export function openOpenAi(settings: ProviderSettings, namelessModels = false): ModelProvider {
  const isChat = settings.api === 'chat';
  const provider = createOpenAI({
    name: settings.name,
    baseURL: settings.baseUrl ?? 'https://api.openai.com/v1',
    apiKey: settings.apiKey,
    headers: settings.headers,
    fetch: boundEvents(settings.fetch, isChat ? boundCalls : boundNotes),
  });
  const open = isChat ? provider.chat : provider.responses;
  return { model: (id) => chatModelOf(open(id), { jsonMode: true, namelessModels, keepsAnswers: !isChat }) };
}
