import { afterEach, expect, test } from 'vitest';
import { sure } from '../../runs/fixtures/engine.ts';
import { type ReplayOptions, type ReplayServer, startReplayServer } from '../../web/fixtures/replays.ts';

let site: ReplayServer;
afterEach(() => site.close());

const JUDGE = { executor: 'gateway' as const, agent: 'replay-judge', timeoutSeconds: 5, maxOutputChars: 100 };
const SAFE = ['gateway:investigator', 'gateway:replay-judge'];
const PRICES = [
  { provider: 'p', model: 'm', inputPerMtok: 100_000, outputPerMtok: 200_000 },
  { provider: 'other', model: 'big', inputPerMtok: 1_000_000, outputPerMtok: 0 },
];
const start = async (options: ReplayOptions = {}) => {
  const agents = { investigator: () => sure(0.9), 'replay-judge': () => ({ verdict: 'correct', reason: 'the same' }) };
  site = await startReplayServer({ agents, ...options });
};
const estimate = async (body: object = {}) => {
  const launch = { bucket: 'current', candidate: {}, mode: 'rerender', ...body };
  const answer = await site.send('POST', '/steps/look/replay/estimate', { body: launch });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.body;
};

test('every field of an estimate; no model is asked and no run created', async () => {
  await start({ pricing: PRICES });
  await site.record();
  await site.record({}, 'incorrect');
  const asked = site.world.calls.length;
  expect(await estimate()).toEqual({
    total: 4,
    per_sample: 2,
    sample_count: 2,
    mean_input_tokens: 10,
    mean_output_tokens: 5,
    tier: 'manual',
    basis_n: 2,
    reason: 'price of m at p, for the mean of 2 recorded calls',
    judge: null,
    combined_total: null,
  });
  expect(site.world.calls).toHaveLength(asked);
  expect((await site.send('GET', '/runs?source=replay')).body.total).toBe(0);
});

test('without a price the total is null and not 0, and so are tier and reason', async () => {
  await start();
  await site.record();
  expect(await estimate()).toMatchObject({ total: null, per_sample: null, tier: null, reason: null, basis_n: 1 });
});

test.each(['live_exact', 'live_cross_provider'])('a price of the catalog has the tier %s', async (source) => {
  await start({ deps: { priceOf: () => ({ cost: 3, source }) } });
  await site.record();
  expect(await estimate()).toMatchObject({ total: 3, per_sample: 3, tier: source });
});

test('another model has its own price, also one that names its provider', async () => {
  await start({ pricing: PRICES });
  await site.record();
  expect(await estimate({ candidate: { model: 'other/big' } })).toMatchObject({ total: 10 });
  expect(await estimate({ candidate: { model: 'unknown' } })).toMatchObject({ total: null });
});

test('an estimate never stands in the way of a launch: a bucket without labels has no samples', async () => {
  await start({ pricing: PRICES });
  await site.record({}, null);
  expect(await estimate()).toMatchObject({ sample_count: 0, total: null, basis_n: 0, mean_input_tokens: null });
});

test('the judge is estimated for samples with a correct label, from what it used before', async () => {
  await start({ pricing: PRICES, replay: { safeAgents: SAFE, judge: JUDGE } });
  await site.record();
  await site.record();
  await site.record({}, 'partial');
  const nothing = { total: null, per_sample: null, mean_input_tokens: null, mean_output_tokens: null };
  expect(await estimate()).toMatchObject({
    total: 6,
    judge: { ...nothing, eligible_count: 2, tier: null, basis_n: 0, reason: null },
    combined_total: null,
  });
  await site.replay({ candidate: {} });
  expect(await estimate()).toMatchObject({
    total: 6,
    judge: {
      total: 4,
      per_sample: 2,
      eligible_count: 2,
      mean_input_tokens: 10,
      mean_output_tokens: 5,
      tier: 'manual',
      basis_n: 2,
      reason: 'price of m at p, for the mean of 2 recorded calls',
    },
    combined_total: 10,
  });
});
