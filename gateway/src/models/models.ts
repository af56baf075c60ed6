import type { ChatModel, ModelProvider } from './model.ts';
import { type ModelRoute, nameOf, type ProviderNames, routeModel } from './route.ts';

/** One configured provider as this module needs it. */
export interface ProviderEntry {
  name: string;
  isDefault: boolean;
  /** False where a needed key is empty. */
  configured: boolean;
  open: () => Promise<ModelProvider>;
}

/** A row of `GET /providers` (Gateway 2). */
export interface ProviderView {
  name: string;
  configured: boolean;
  prefix: string | null;
}

export interface Models {
  names: ProviderNames;
  views: ProviderView[];
  route(model: string): ModelRoute | null;
  /** Opens the provider at its first use. Null where it has no key. Rejects when its SDK cannot be loaded. */
  open(route: ModelRoute): Promise<ChatModel | null>;
}

const MAX_OPEN_MODELS = 500;

/** The models of all configured providers. */
export function createModels(entries: readonly ProviderEntry[]): Models {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const names: ProviderNames = {
    names: new Set(byName.keys()),
    defaultName: entries.find((entry) => entry.isDefault)?.name ?? null,
  };
  const opening = new Map<string, Promise<ModelProvider>>();
  const models = new Map<string, ChatModel>();

  async function open(route: ModelRoute): Promise<ChatModel | null> {
    const { provider, model } = route;
    const entry = byName.get(provider);
    if (!entry?.configured) return null;
    let opened = opening.get(provider);
    if (!opened) {
      opened = entry.open();
      opening.set(provider, opened);
      opened.catch(() => opening.delete(provider));
    }
    const fresh = (await opened).model(model);
    if (models.size >= MAX_OPEN_MODELS) models.clear();
    models.set(nameOf(route), fresh);
    return fresh;
  }

  return {
    names,
    views: entries.map(({ name, configured, isDefault }) => ({
      name,
      configured,
      prefix: isDefault ? null : `${name}/`,
    })),
    route: (model) => routeModel(model, names),
    open: async (route) => models.get(nameOf(route)) ?? open(route),
  };
}
