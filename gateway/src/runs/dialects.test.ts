import { afterEach, describe, expect, test } from 'vitest';
import { DIALECTS, type Dialect } from '../testing/dialects.ts';
import { type FakeAnswer, startFakeModelServer } from '../testing/fake-model-server.ts';
import { startTestGateway } from '../testing/start-test-gateway.ts';

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

const SCHEMA = {
  type: 'object',
  properties: { confidence: { type: 'number' }, service: { type: 'string' } },
  required: ['confidence', 'service'],
};

/** An agent with three models, each at a provider of its own, all of one dialect. */
async function agentOn(
  dialect: Dialect,
  answers: { first: FakeAnswer[]; second?: FakeAnswer[]; third?: FakeAnswer[] },
  limits: { request_timeout_seconds?: number } = {},
) {
  const order: string[] = [];
  const providers: Record<string, object> = {};
  const servers: Record<string, Awaited<ReturnType<typeof startFakeModelServer>>> = {};
  for (const name of ['first', 'second', 'third'] as const) {
    const server = await startFakeModelServer(answers[name] ?? [dialect.text(`from ${name}`)], () => order.push(name));
    opened.push(server.close);
    servers[name] = server;
    const base_url = server.url + dialect.basePath;
    providers[name] = { type: dialect.type, base_url, api_key: `key-of-${name}`, ...dialect.options };
  }
  const gateway = await startTestGateway({
    agents: { a: { config: { model: 'first/m-1', model_fallbacks: ['second/m-1', 'third/m-1'], max_tokens: 900 } } },
    config: { providers, limits },
  });
  opened.push(gateway.close);
  const client = await gateway.rpc();
  const run = (params: object = {}) => client.call('agent.run', { agent: 'a', input: 'Which service?', ...params });
  return { run, client, order, servers, bodyOf: (name: string, at: number) => servers[name]?.requests[at]?.body };
}

const soon = (answer: FakeAnswer): FakeAnswer => ({ ...answer, headers: { 'retry-after-ms': '2' } });

describe.each(Object.entries(DIALECTS))('%s', (_, dialect) => {
  test('fallbacks are asked in their order: busy three times, refused once, broken three times', async () => {
    const { run, order, client } = await agentOn(dialect, {
      first: [soon(dialect.error(429, 'busy'))],
      second: [dialect.error(403, 'not for you')],
      third: [soon(dialect.error(500, 'oops')), soon(dialect.error(529, 'overloaded')), dialect.text('at last')],
    });
    const { result } = await run();
    expect(result).toMatchObject({ text: 'at last', provider: 'third', model: 'm-1', answered_by: 'm-dated' });
    expect(order).toEqual(['first', 'first', 'first', 'second', 'third', 'third', 'third']);
    const falls = client.events().filter(({ event }) => event === 'model_fallback');
    expect(falls.map(({ from, to }) => [from, to])).toEqual([
      ['first/m-1', 'second/m-1'],
      ['second/m-1', 'third/m-1'],
    ]);
    expect(falls[0]?.['reason']).toContain('429: busy');
  });

  test('a model that hangs is left after its timeout, and one that says nonsense after three tries', async () => {
    const nonsense: FakeAnswer = { raw: '<html>proxy</html>', headers: { 'retry-after-ms': '2' } };
    const answers = { first: [{ hang: true as const }], second: [nonsense] };
    const { run, order } = await agentOn(dialect, answers, { request_timeout_seconds: 2 });
    expect((await run()).result).toMatchObject({ text: 'from third' });
    expect(order).toEqual(['first', 'second', 'second', 'second', 'third']);
  });

  test('a run whose models all time out may be retried', async () => {
    const hang = [{ hang: true as const }];
    const { run } = await agentOn(dialect, { first: hang, second: hang, third: hang }, { request_timeout_seconds: 1 });
    expect((await run()).error?.data).toMatchObject({ type: 'provider_error', retryable: true });
  });

  test('when nobody answers the last reason is told, without a key', async () => {
    const { run } = await agentOn(dialect, {
      first: [dialect.error(400, 'bad')],
      second: [dialect.error(401, 'bad')],
      third: [dialect.error(404, 'no model for key-of-third')],
    });
    const { error } = await run();
    expect(error).toMatchObject({ code: -32013, data: { type: 'provider_error', retryable: false } });
    expect(error?.message).toContain('404');
    expect(error?.message).not.toContain('key-of-third');
  });

  test('a schema is told, a wrong answer repaired, and what both turns used is summed', async () => {
    const good = '{"confidence": 0.8, "service": "cart"}';
    const { run, bodyOf, order } = await agentOn(dialect, {
      first: [dialect.text('```json\n{"confidence": "very"}\n```'), dialect.text(`Here: ${good}`)],
    });
    const { result } = await run({ output_schema: SCHEMA });
    expect(result).toMatchObject({
      output: { confidence: 0.8, service: 'cart' },
      iterations: 2,
      usage: { input_tokens: 200, output_tokens: 40, cached_input_tokens: 60 },
    });
    expect(JSON.stringify(bodyOf('first', 0))).toContain(String.raw`\"required\":[\"confidence\",\"service\"]`);
    expect(JSON.stringify(bodyOf('first', 1))).toMatch(/That answer cannot be used: .*'service'.*Answer again/);
    expect(order).toEqual(['first', 'first']);
  });

  test('streamed, a schema and its repair work alike', async () => {
    const { run } = await agentOn(dialect, {
      first: [dialect.stream(['no ', 'object']), dialect.stream(['{"confidence": 1,', ' "service": "web"}'])],
    });
    const { result } = await run({ output_schema: SCHEMA, trace: { stream: true } });
    expect(result).toMatchObject({ output: { confidence: 1, service: 'web' }, usage: { cached_input_tokens: 60 } });
  });

  test('a stream that breaks off is asked for again', async () => {
    const whole = dialect.stream(['a', 'b', 'c']) as { events: unknown[] };
    const { run, order } = await agentOn(dialect, {
      first: [{ ...whole, events: whole.events.slice(0, 2), cut: true }, dialect.stream(['whole'])],
    });
    expect((await run({ trace: { stream: true } })).result).toMatchObject({ text: 'whole' });
    expect(order).toEqual(['first', 'first']);
  });
});
