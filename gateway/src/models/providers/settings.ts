/** The settings of one provider. They come from the configuration, never from environment variables of an SDK. */
export interface ProviderSettings {
  name: string;
  baseUrl: string | undefined;
  apiKey: string;
  headers: Record<string, string>;
  api: 'responses' | 'chat' | undefined;
  fetch: typeof fetch;
}
