import { MAX_TOKENS, Usage } from '@signalbox/crds';
import { afterEach, expect, test } from 'vitest';
import { DIALECTS } from '../testing/dialects.ts';
import { type FakeAnswer, startFakeModelServer } from '../testing/fake-model-server.ts';
import { startTestGateway } from '../testing/start-test-gateway.ts';
import { UsedTokens } from './used-tokens.ts';

const chat = DIALECTS['openai_compatible'] as (typeof DIALECTS)[string];
const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

/** An agent of the model `fake/m-1` that falls back to `spare/m-2`. Every answer of both uses 100 tokens in, 30 of them cached, and 20 out. */
async function runOf(answers: FakeAnswer[], params: object = {}) {
  const fake = await startFakeModelServer(answers);
  const spare = await startFakeModelServer([chat.text('done')]);
  const type = 'openai_compatible';
  const providers = {
    fake: { type, base_url: `${fake.url}/v1`, default: true },
    spare: { type, base_url: `${spare.url}/v1` },
  };
  const gateway = await startTestGateway({
    agents: { worker: { soul: 'You work.', config: { model: 'fake/m-1', model_fallbacks: ['spare/m-2'] } } },
    config: { providers },
  });
  opened.push(gateway.close, fake.close, spare.close);
  const client = await gateway.rpc();
  const { result, error } = await client.call('agent.run', { agent: 'worker', input: 'Go.', ...params });
  return { result, error, gateway };
}

/** An answer with a good status that ends with a tool call and has none. */
const NO_CALL = {
  json: {
    ...(chat.text('x') as { json: { choices: object[] } }).json,
    choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'tool_calls' }],
  },
};

test('answers that cannot be used are paid for, by the model that gave them', async () => {
  const { result, gateway } = await runOf([NO_CALL, NO_CALL, NO_CALL]);
  expect(result).toMatchObject({
    text: 'done',
    model: 'm-2',
    provider: 'spare',
    usage: { input_tokens: 400, output_tokens: 80, cached_input_tokens: 120 },
    usage_by_model: [
      { provider: 'fake', model: 'm-1', input_tokens: 300, output_tokens: 60, cached_input_tokens: 90 },
      { provider: 'spare', model: 'm-2', input_tokens: 100, output_tokens: 20, cached_input_tokens: 30 },
    ],
  });
  await expect
    .poll(async () => (await gateway.http('GET', '/metrics')).body)
    .toContain('gateway_tokens_total{provider="fake",model="m-1",direction="input"} 300');
});

test('a run of one model says what it used once', async () => {
  const { result } = await runOf([chat.text('done')]);
  expect(result).toMatchObject({ usage: { input_tokens: 100 } });
  expect(result).not.toHaveProperty('usage_by_model');
});

test('a run that no model answered names the model that was asked, its agent and its time', async () => {
  const { error } = await runOf([{ hang: true }], { timeout_ms: 100 });
  expect(error?.data).toMatchObject({ type: 'timeout', provider: 'fake', model: 'm-1', usage: null, iterations: 1 });
  expect(error?.data).toMatchObject({ agent_version: expect.any(String), duration_ms: expect.any(Number) });
});

test('what only a model used that did not answer is said under its name', () => {
  const used = new UsedTokens();
  const spare = { provider: 'spare', model: 'm-2' };
  used.add(spare, { input: 100, output: 20, cachedInput: 30 });
  const usage = { input_tokens: 100, output_tokens: 20, cached_input_tokens: 30 };
  expect(used.said(spare)).toEqual({ usage });
  for (const answeredBy of [null, { provider: 'fake', model: 'm-1' }])
    expect(used.said(answeredBy)).toEqual({ usage, usage_by_model: [{ ...spare, ...usage }] });
});

test('however much a run used, what it says can be read', () => {
  const used = new UsedTokens();
  const spare = { provider: 'spare', model: 'm-2' };
  for (let at = 0; at < 3; at++) used.add(spare, { input: MAX_TOKENS, output: 1, cachedInput: 0 });
  const usage = { input_tokens: MAX_TOKENS, output_tokens: 3, cached_input_tokens: 0 };
  expect(used.said(spare)).toEqual({ usage: Usage.parse(usage) });
});
