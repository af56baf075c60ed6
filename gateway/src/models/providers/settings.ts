/** What a provider file needs to know; never what the environment says. */
export interface ProviderSettings {
  name: string;
  baseUrl: string | undefined;
  apiKey: string;
  headers: Record<string, string>;
  api: 'responses' | 'chat' | undefined;
  fetch: typeof fetch;
}
