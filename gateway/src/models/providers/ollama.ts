import type { ModelProvider } from '../model.ts';
import type { ProviderSettings } from './settings.ts';
import { openOpenAiCompatible } from './openai-compatible.ts';

/** A local Ollama through its Chat Completions surface. */
export function openOllama(settings: ProviderSettings): ModelProvider {
  return openOpenAiCompatible({ ...settings, baseUrl: settings.baseUrl ?? 'http://127.0.0.1:11434/v1' });
}
