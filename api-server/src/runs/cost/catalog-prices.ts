import { costOf, type ModelPrice, type PriceOf } from './cost.ts';

/** A catalog as prices by provider and model; rates in currency units per 1,000,000 tokens. */
export type Catalog = readonly ModelPrice[];

/** The provider whose own list the catalog is. */
const ROUTER = 'openrouter';

/** `claude-3.5-sonnet`, `claude-3-5-sonnet-20241022` and `claude-3-5-sonnet@20241022` are one model. */
const plain = (model: string): string =>
  model
    .toLowerCase()
    .replace(/[-@:]\d{4}-?\d{2}-?\d{2}$/, '')
    .replaceAll(/[._]/g, '-');

/**
 * Prices from a public catalog (Orchestration 2.13): the provider's own listing of the model is `live_exact`; with
 * `crossProvider`, where it has none, the first listing of the same model by another is `live_cross_provider`.
 */
export function catalogPrices(catalog: Catalog, { crossProvider }: { crossProvider: boolean }): PriceOf {
  const own = new Map<string, ModelPrice>();
  const any = new Map<string, ModelPrice>();
  for (const entry of catalog) {
    const name = plain(entry.model);
    // Whoever goes through the router pays what the router lists.
    for (const key of [
      `${entry.provider.toLowerCase()}/${name}`,
      `${ROUTER}/${plain(`${entry.provider}/${entry.model}`)}`,
    ])
      if (!own.has(key)) own.set(key, entry);
    if (!any.has(name)) any.set(name, entry);
  }
  return (use) => {
    const { provider, model } = use;
    if (provider === null || model === null) return null;
    const exact = own.get(`${provider.toLowerCase()}/${plain(model)}`);
    if (exact) return { cost: costOf(exact, use), source: 'live_exact' };
    // A router's model names its maker, as in `anthropic/claude`.
    const other = crossProvider ? any.get(plain(model.slice(model.lastIndexOf('/') + 1))) : undefined;
    return other ? { cost: costOf(other, use), source: 'live_cross_provider' } : null;
  };
}
