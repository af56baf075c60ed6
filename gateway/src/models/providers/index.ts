import type { ModelProvider } from '../model.ts';
import type { ProviderSettings } from './settings.ts';

export interface ProviderKind {
  /** Whether the provider cannot be used without a key (`configured` of `GET /providers`). */
  needsKey: boolean;
  open(settings: ProviderSettings): Promise<ModelProvider>;
}

/** Every provider type of the configuration. An SDK is loaded when the first model of its type is asked. */
export const PROVIDER_KINDS = {
  anthropic: { needsKey: true, open: async (settings) => (await import('./anthropic.ts')).openAnthropic(settings) },
  openai: { needsKey: true, open: async (settings) => (await import('./openai.ts')).openOpenAi(settings) },
  azure: { needsKey: true, open: async (settings) => (await import('./azure.ts')).openAzure(settings) },
  google: { needsKey: true, open: async (settings) => (await import('./google.ts')).openGoogle(settings) },
  openrouter: { needsKey: true, open: async (settings) => (await import('./openrouter.ts')).openOpenRouter(settings) },
  ollama: { needsKey: false, open: async (settings) => (await import('./ollama.ts')).openOllama(settings) },
  openai_compatible: {
    needsKey: false,
    open: async (settings) => (await import('./openai-compatible.ts')).openOpenAiCompatible(settings),
  },
  demo: { needsKey: false, open: async () => (await import('./demo.ts')).openDemo() },
} as const satisfies Record<string, ProviderKind>;
