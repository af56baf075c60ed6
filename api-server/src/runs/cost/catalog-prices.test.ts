import { expect, test } from 'vitest';
import { type Catalog, catalogPrices } from './catalog-prices.ts';

const CATALOG: Catalog = [
  { provider: 'anthropic', model: 'claude-3.5-sonnet', inputPerMtok: 3, outputPerMtok: 15 },
  { provider: 'openai', model: 'gpt-9', inputPerMtok: 10, outputPerMtok: 40 },
  { provider: 'meta', model: 'llama-4', inputPerMtok: 0.1, outputPerMtok: 0.2 },
];
const use = (provider: string | null, model: string | null) => ({
  provider,
  model,
  inputTokens: 1_000_000,
  outputTokens: 0,
});

test.each([
  ['anthropic', 'claude-3.5-sonnet', 3],
  ['anthropic', 'claude-3-5-sonnet', 3],
  ['anthropic', 'claude-3-5-sonnet-20241022', 3],
  ['Anthropic', 'claude-3-5-sonnet@20241022', 3],
  ['openai', 'gpt-9-2026-01-31', 10],
  ['openrouter', 'meta/llama-4', 0.1],
])("the provider's own listing: %s/%s costs %s", (provider, model, cost) => {
  for (const crossProvider of [false, true])
    expect(catalogPrices(CATALOG, { crossProvider })(use(provider, model))).toEqual({ cost, source: 'live_exact' });
});

test.each([
  ['azure', 'gpt-9', 10],
  ['bedrock', 'anthropic/claude-3.5-sonnet', 3],
])("another provider's listing, only where that is allowed: %s/%s", (provider, model, cost) => {
  expect(catalogPrices(CATALOG, { crossProvider: false })(use(provider, model))).toBeNull();
  const price = catalogPrices(CATALOG, { crossProvider: true })(use(provider, model));
  expect(price).toEqual({ cost, source: 'live_cross_provider' });
});

test.each([
  ['openai', 'gpt-9-mini'],
  ['openai', 'gpt'],
  [null, 'gpt-9'],
  ['openai', null],
])('what is not listed has no price: %s/%s', (provider, model) => {
  expect(catalogPrices(CATALOG, { crossProvider: true })(use(provider, model))).toBeNull();
});
