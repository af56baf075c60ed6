import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPricing, type Pricing } from './pricing.ts';

const LIST = {
  data: [
    { id: 'anthropic/claude-x', pricing: { prompt: '0.000003', completion: '0.000015', image: '0' } },
    { id: 'anthropic/claude-x:free', pricing: { prompt: '0', completion: '0' } },
    { id: 'auto/router', pricing: { prompt: '-1', completion: '-1' } },
    { id: 'anthropic/claude-endless', pricing: { prompt: '1e308', completion: '0' } },
    { id: 'anthropic/claude-cached', pricing: { prompt: '0.000003', completion: '0', input_cache_read: 1e308 } },
    { id: 'no-maker', pricing: { prompt: '1', completion: '1' } },
    { id: 'half/listed' },
    'nonsense',
  ],
};
const USE = { provider: 'anthropic', model: 'claude-x', inputTokens: 1_000_000, outputTokens: 1_000_000 };

let answer: { status: number; body: string };
let server: ReturnType<typeof createServer>;
let pricing: Pricing;
let logged: string[];
const log = {
  info: (_: object, msg: string) => void logged.push(msg),
  warn: (_: object, msg: string) => void logged.push(msg),
} as unknown as Parameters<typeof createPricing>[1];

beforeEach(async () => {
  logged = [];
  answer = { status: 200, body: JSON.stringify(LIST) };
  server = createServer((_request, response) => void response.writeHead(answer.status).end(answer.body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  pricing.stop();
  server.closeAllConnections();
  server.close();
});

const make = (models: { provider: string; model: string; inputPerMtok: number; outputPerMtok: number }[] = []) => {
  const live = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/models`,
    crossProvider: false,
    refreshSeconds: 3600,
  };
  pricing = createPricing({ currency: 'USD', models, teamBudgets: {}, live }, log);
  return pricing;
};

test('what has no price by hand has that of the catalog, once it was read', async () => {
  const byHand = { provider: 'anthropic', model: 'claude-y', inputPerMtok: 1, outputPerMtok: 1 };
  const { priceOf, start } = make([byHand]);
  expect(priceOf(USE)).toBeNull();
  await start();
  expect(logged).toEqual(['read the prices from the catalog']);
  expect(priceOf(USE)).toEqual({ cost: 18, source: 'live_exact' });
  expect(priceOf({ ...USE, model: 'claude-y' })).toEqual({ cost: 2, source: 'manual' });
  expect(priceOf({ ...USE, provider: 'auto', model: 'router' })).toBeNull();
});

test('a price that no sum could hold is no price', async () => {
  const { priceOf, start } = make();
  await start();
  expect(priceOf({ ...USE, model: 'claude-endless', inputTokens: 0 })).toBeNull();
  expect(priceOf({ ...USE, model: 'claude-cached', cachedInputTokens: 1_000_000 })?.cost).toBe(3);
});

test('a price by hand holds against the catalog', async () => {
  const { priceOf, start } = make([{ provider: 'anthropic', model: 'claude', inputPerMtok: 1, outputPerMtok: 2 }]);
  await start();
  expect(priceOf(USE)).toEqual({ cost: 3, source: 'manual' });
});

test.each([
  ['is away', 503, ''],
  ['says something else', 200, '{"models": []}'],
  ['is no JSON', 200, '<html>'],
])('a catalog that %s leaves the last prices in force', async (_, status, body) => {
  const { priceOf, start } = make();
  await start();
  answer = { status, body };
  await start();
  expect(logged.at(-1)).toBe('prices cannot be read from the catalog; the last prices stay in use');
  expect(priceOf(USE)?.cost).toBe(18);
});

test('without a catalog nothing is asked, and without prices nothing is priced', async () => {
  pricing = createPricing(null, log);
  await pricing.start();
  expect([logged, pricing.priceOf(USE)]).toEqual([[], null]);
});
