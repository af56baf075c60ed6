import type { ProviderEntry } from './models.ts';
import { createProviderFetch } from './provider-fetch.ts';
import { PROVIDER_KINDS } from './providers/index.ts';

interface ProviderOptions {
  type: keyof typeof PROVIDER_KINDS;
  base_url?: string | undefined;
  api_key?: string | undefined;
  api?: 'responses' | 'chat' | undefined;
  headers: Record<string, string>;
  default: boolean;
}

/** The configured providers, each with how to open it. */
export function providerEntries(providers: Readonly<Record<string, ProviderOptions>>): ProviderEntry[] {
  const fetch = createProviderFetch();
  return Object.entries(providers).map(([name, options]) => {
    const kind = PROVIDER_KINDS[options.type];
    const apiKey = options.api_key ?? '';
    const settings = { name, baseUrl: options.base_url, apiKey, headers: options.headers, api: options.api, fetch };
    return {
      name,
      isDefault: options.default,
      // A key that is configured and empty (an unset variable) makes the provider unusable.
      configured: apiKey !== '' || (!kind.needsKey && options.api_key === undefined),
      open: () => kind.open(settings),
    };
  });
}
