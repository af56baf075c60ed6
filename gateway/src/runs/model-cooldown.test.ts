import { afterEach, expect, test } from 'vitest';
import { DIALECTS } from '../testing/dialects.ts';
import { type FakeAnswer, startFakeModelServer } from '../testing/fake-model-server.ts';
import { startTestGateway } from '../testing/start-test-gateway.ts';

const chat = DIALECTS['openai_compatible'] as (typeof DIALECTS)[string];
const DOWN: FakeAnswer = { ...chat.error(503, 'down'), headers: { 'retry-after-ms': '2' } };
const HOUR = { failures: 3, seconds: 3600 };

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** An agent whose models are at the provider `first` and then at `second`. */
async function agentWith(options: { first: FakeAnswer[]; second: FakeAnswer[]; cooldown?: object }) {
  const [first, second] = [await startFakeModelServer(options.first), await startFakeModelServer(options.second)];
  const at = ({ url }: { url: string }) => ({ type: 'openai_compatible', base_url: `${url}/v1` });
  const gateway = await startTestGateway({
    agents: { worker: { config: { model: 'first/m-1', model_fallbacks: ['second/m-2'] } } },
    config: {
      providers: { first: { ...at(first), cooldown: options.cooldown ?? {} }, second: at(second) },
    },
  });
  opened.push(first.close, second.close, gateway.close);
  const client = await gateway.rpc();
  return {
    run: (params: object = {}) => client.call('agent.run', { agent: 'worker', input: 'Go.', ...params }),
    asked: () => [first.requests.length, second.requests.length],
    falls: () => client.events().filter(({ event }) => event === 'model_fallback'),
    metrics: async () => (await fetch(`${gateway.url}/metrics`)).text(),
    said: () => [...gateway.warnings, ...gateway.records].map((line) => (line as { msg: string }).msg),
  };
}

test('a model that keeps failing rests: later runs ask the next one first, and say why', async () => {
  const { run, asked, falls, metrics, said } = await agentWith({ first: [DOWN], second: [chat.text('spare')] });
  await run();
  expect(asked()).toEqual([3, 1]);
  expect((await run()).result).toMatchObject({ provider: 'second', text: 'spare' });
  expect(asked()).toEqual([3, 2]);
  expect(falls().at(-1)).toMatchObject({
    from: 'first/m-1',
    to: 'second/m-2',
    reason: expect.stringContaining('rests'),
  });
  expect(await metrics()).toContain('gateway_model_cooldowns_total{provider="first",model="m-1"} 1');
  expect(said()).toContain('model rests after failures in a row');
});

test('one request, not three, probes a model whose rest is over; one that answers is first again', async () => {
  const { run, asked, said } = await agentWith({
    first: [DOWN, DOWN, DOWN, DOWN, chat.text('back')],
    second: [chat.text('spare')],
    cooldown: { failures: 3, seconds: 0.001 },
  });
  await run();
  expect((await run()).result).toMatchObject({ text: 'spare' });
  expect(asked()).toEqual([4, 2]);
  expect((await run()).result).toMatchObject({ text: 'back' });
  expect(said()).toContain('model answers again');
});

test('a model that rests is asked where no other one answers', async () => {
  const { run, asked } = await agentWith({
    first: [DOWN, DOWN, DOWN, chat.text('back')],
    second: [chat.error(401, 'bad key')],
    cooldown: HOUR,
  });
  expect((await run()).error?.message).toContain('bad key');
  expect((await run()).result).toMatchObject({ provider: 'first', text: 'back' });
  expect(asked()).toEqual([4, 2]);
});

test('a refusal says nothing of the model’s health, and a run stays with the fallback that answered', async () => {
  const { run, asked } = await agentWith({
    first: [chat.error(401, 'bad key')],
    second: [chat.text('no object'), chat.text('{"confidence":1}')],
    cooldown: { failures: 1, seconds: 3600 },
  });
  const output_schema = { type: 'object', properties: { confidence: { type: 'number' } }, required: ['confidence'] };
  expect((await run({ output_schema })).result).toMatchObject({ provider: 'second', iterations: 2 });
  expect(asked()).toEqual([1, 2]);
  await run();
  expect(asked()).toEqual([2, 3]);
});

test('a run that gives up at its own deadline puts no model to rest', async () => {
  const { run, asked } = await agentWith({
    first: [{ hang: true }, chat.text('here')],
    second: [chat.text('spare')],
    cooldown: { failures: 1, seconds: 3600 },
  });
  expect((await run({ timeout_ms: 300 })).error?.data).toMatchObject({ type: 'timeout' });
  expect((await run()).result).toMatchObject({ provider: 'first', text: 'here' });
  expect(asked()).toEqual([2, 0]);
});
