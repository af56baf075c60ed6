import { afterEach, expect, test } from 'vitest';
import { DIALECTS } from '../testing/dialects.ts';
import { type FakeAnswer, startFakeModelServer } from '../testing/fake-model-server.ts';
import { Cooldowns } from './cooldowns.ts';
import { generate } from './generate.ts';
import type { ModelCall } from './model.ts';
import { createModels } from './models.ts';
import { providerEntries } from './provider-entries.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const openai = DIALECTS['openai responses'] as (typeof DIALECTS)[string];

const callWith = (inputSchema: object): ModelCall => ({
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello?' }] }],
  tools: [{ type: 'function', name: 'host__load', description: 'Load', inputSchema }],
  answerSchema: null,
});

/** A model that rests after one failure, and how it is asked. */
async function modelWith(answer: FakeAnswer) {
  const server = await startFakeModelServer([answer]);
  closing.push(server.close);
  const { type, basePath } = openai;
  const provider = { type, base_url: server.url + basePath, api_key: 'key', headers: {}, default: true };
  const { route, open } = createModels(providerEntries({ it: provider }));
  const rests: string[] = [];
  const cooldowns = new Cooldowns({
    ruleOf: () => ({ failures: 1, seconds: 3600 }),
    now: () => 0,
    onRest: ({ model }) => rests.push(model),
    onRecovered: ({ model }) => rests.push(`${model} is back`),
  });
  let retries = 0;
  const ask = (call: ModelCall, onText?: () => void) => {
    const options = {
      signal: AbortSignal.timeout(30_000),
      onText,
      onRetry: () => (retries += 1),
      onFallback: () => {},
    };
    const deps = { route, open, cooldowns, random: () => 0, requestTimeoutMs: 20_000, conceal: (text: string) => text };
    return generate({ models: ['m'], call }, options, { ...deps, sleep: async () => {}, onRequest: () => {} });
  };
  return { ask, rests, retries: () => retries, asked: () => server.requests.length };
}

test.each([
  ['whole', undefined],
  ['streamed', () => {}],
])('a request that an SDK cannot write says nothing of the model, and is not made again: %s', async (_, onText) => {
  const { ask, rests, retries, asked } = await modelWith(openai.error(503, 'down'));
  const wrong = callWith({ type: 'object', allOf: 'x' });
  const message = expect.stringContaining('the request cannot be written: ');
  expect(await ask(wrong, onText)).toMatchObject({ ok: false, failure: { message, retryable: false } });
  expect([rests, retries(), asked()]).toEqual([[], 0, 0]);
  await ask(callWith({ type: 'object' }), onText);
  await ask(wrong, onText);
  expect([rests, retries(), asked()]).toEqual([['m'], 2, 3]);
});
