import type { ModelProvider } from '../model.ts';
import type { ProviderSettings } from './settings.ts';
import { openOpenAi } from './openai.ts';

/**
 * Azure OpenAI through its v1 surface: `base_url` is `https://RESOURCE.openai.azure.com/openai/v1`, a model id is a
 * deployment's name, and the key travels in Azure's own header.
 */
export function openAzure(settings: ProviderSettings): ModelProvider {
  return openOpenAi({ ...settings, headers: { 'api-key': settings.apiKey, ...settings.headers } }, true);
}
