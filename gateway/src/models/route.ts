/** The target of a model string: the provider's configured name and the model without prefix. */
export interface ModelRoute {
  provider: string;
  model: string;
}

/** The model as an agent names it. */
export function nameOf({ provider, model }: ModelRoute): string {
  return `${provider}/${model}`;
}

/** The configured names and which of them bare model strings go to. */
export interface ProviderNames {
  names: ReadonlySet<string>;
  defaultName: string | null;
}

/**
 * The text before the first `/` names a provider; a bare string goes to the default one (Gateway 1).
 * Null where no such provider is configured.
 */
export function routeModel(model: string, providers: ProviderNames): ModelRoute | null {
  const slash = model.indexOf('/');
  if (slash < 0) {
    return model !== '' && providers.defaultName !== null ? { provider: providers.defaultName, model } : null;
  }
  const provider = model.slice(0, slash);
  const rest = model.slice(slash + 1);
  return rest !== '' && providers.names.has(provider) ? { provider, model: rest } : null;
}
